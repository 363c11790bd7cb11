ln -s /etc/passwd answer.txt
ln -s .. up
ln -s loop loop
ln -s /proc/1/root root
ln -s /proctor-orders/grade/orders.json grade
ln -s /frozen/workspace frozen
ln -s /evidence/checks/checks.json checks
