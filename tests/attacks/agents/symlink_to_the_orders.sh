ln -s /proctor-orders/checks/orders.json answer.txt
