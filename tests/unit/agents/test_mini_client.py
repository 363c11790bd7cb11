import pytest

from builders_agents import messages_answer
from fakes.model_server import Answer, model_server
from proctor.agents.mini.client import HttpError, post
from proctor.agents.mini.dialect import Question
from proctor.agents.mini.messages import MessagesDialect
from proctor.agents.mini.model import MAX_WAIT_SECONDS, Model, ModelError

QUESTION = Question("m", "s", [], [], 10)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(b'{"a": 1}'), id="length"),
        pytest.param(Answer(b'{"a": 1}', chunked=True), id="chunked"),
        pytest.param(Answer(b'{"a": 1}', length=False), id="until-the-end"),
    ],
)
async def test_a_body_is_read_whole_however_it_is_framed(answer):
    async with model_server(answer) as server:
        response = await post(f"{server.url}/v1/x?y=z", {"x-api-key": "k"}, b"{}")
    assert (response.status, response.body) == (200, b'{"a": 1}')
    assert server.asked[0].path == "/v1/x?y=z"
    assert server.asked[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"hello\n", id="not-http"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", id="cut"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -9\r\n\r\nabc", id="negative"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", id="too-large"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="chunk"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000, id="endless-header"),
    ],
)
async def test_what_is_not_a_whole_answer_is_an_error(raw):
    async with model_server(Answer(raw=raw)) as server:
        with pytest.raises(HttpError, match="broke off or is not HTTP"):
            await post(server.url, {}, b"{}")


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        pytest.param({}, [1.0, 2.0], id="unnamed-waits-grow"),
        pytest.param({"retry-after": "7"}, [7.0, 7.0], id="named"),
        pytest.param({"retry-after": "9999"}, [MAX_WAIT_SECONDS] * 2, id="bounded"),
        pytest.param({"retry-after": "-1"}, [0.0, 0.0], id="negative"),
        pytest.param({"retry-after": "Fri, 31 Dec"}, [1.0, 2.0], id="a-date"),
    ],
)
async def test_waits_between_attempts(headers, waits):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    failure = Answer({"error": {"message": "busy"}}, 503, headers)
    async with model_server(failure, failure, failure) as server:
        model = Model(MessagesDialect(), server.url, "key", sleep)
        with pytest.raises(ModelError, match="HTTP 503: busy"):
            await model.ask(QUESTION)
    assert slept == waits


async def test_a_broken_connection_is_tried_again():
    async def sleep(seconds):
        pass

    async with model_server(Answer(raw=b""), messages_answer("ok")) as server:
        reply = await Model(MessagesDialect(), server.url, "key", sleep).ask(QUESTION)
    assert reply.text == "ok"


async def test_nobody_there_is_an_error_that_says_so():
    async def sleep(seconds):
        pass

    async with model_server() as server:
        url = server.url
    with pytest.raises(ModelError, match=r"cannot reach the model: .* \(after 3 attempts\)"):
        await Model(MessagesDialect(), url, "key", sleep).ask(QUESTION)
