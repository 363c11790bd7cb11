from proctor.runner.egress import proxy_environment
from proctor.runner.places import EgressAccess


def test_clients_find_the_proxy_with_the_pass_and_the_gateway_without_it(tmp_path):
    (tmp_path / "pass").write_text("body.signature\n")
    access = EgressAccess("http://egress.proctor.svc:3128", tmp_path / "pass")
    found = proxy_environment(access, "http://gateway.proctor.svc:8080")
    assert found["HTTPS_PROXY"] == "http://proctor:body.signature@egress.proctor.svc:3128"
    assert found["https_proxy"] == found["HTTPS_PROXY"]
    assert "gateway.proctor.svc" in found["NO_PROXY"].split(",")
    assert found["no_proxy"] == found["NO_PROXY"]
    assert not {"HTTP_PROXY", "http_proxy"} & found.keys()


def test_without_a_list_there_is_no_proxy():
    assert proxy_environment(None, "http://gateway.proctor.svc:8080") == {}
