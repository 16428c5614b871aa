CREATE DATABASE shop CHARACTER SET utf8mb4

CREATE TABLE shop.cart (
    id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY,
    customer INT UNSIGNED NOT NULL,
    item INT UNSIGNED NOT NULL,
    amount DECIMAL(8,2) NOT NULL,
    touched DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    reminded DATETIME,
    KEY (touched)
)

CREATE TABLE shop.stock (item INT UNSIGNED PRIMARY KEY, pieces INT NOT NULL)

CREATE TABLE shop.sales (day DATETIME PRIMARY KEY, carts INT NOT NULL, amount DECIMAL(12,2))

INSERT INTO shop.stock VALUES (1, 37), (2, 39), (3, 41), (4, 43), (5, 45)

CREATE PROCEDURE shop.visit()
COMMENT 'A customer puts something into a cart: what the rest of the shop lives from.'
SQL SECURITY INVOKER
BEGIN
    DECLARE v_item INT DEFAULT 1 + FLOOR(RAND() * 5);
    INSERT INTO shop.cart (customer, item, amount) VALUES (FLOOR(RAND() * 100), v_item, 5 + RAND() * 95);
    UPDATE shop.stock SET pieces = pieces - 1 WHERE item = v_item;
END

CREATE PROCEDURE shop.expire_carts()
COMMENT 'Removes carts that nobody touched for 10 seconds (in a real shop: days).'
SQL SECURITY INVOKER
DELETE FROM shop.cart WHERE touched < NOW() - INTERVAL 10 SECOND

CREATE PROCEDURE shop.send_reminders()
COMMENT 'Reminds customers of carts that they left a while ago, each once. It shows which, as result set.'
SQL SECURITY INVOKER
BEGIN
    SELECT customer, amount FROM shop.cart WHERE reminded IS NULL AND touched < NOW() - INTERVAL 4 SECOND;
    UPDATE shop.cart SET reminded = NOW() WHERE reminded IS NULL AND touched < NOW() - INTERVAL 4 SECOND;
END

CREATE PROCEDURE shop.roll_up()
COMMENT 'Adds up the sales of the day. It takes its time, as it does at night in a real shop.'
SQL SECURITY INVOKER
BEGIN
    DO SLEEP(3);
    INSERT INTO shop.sales SELECT NOW(), COUNT(*), SUM(amount) FROM shop.cart;
END

CREATE PROCEDURE shop.check_stock()
COMMENT 'Fails when an item runs out, which somebody should know. Then the item is ordered.'
SQL SECURITY INVOKER
BEGIN
    DECLARE v_item, v_pieces INT;
    DECLARE v_message VARCHAR(128);
    SELECT item, pieces INTO v_item, v_pieces FROM shop.stock ORDER BY pieces LIMIT 1;
    IF v_pieces < 36 THEN
        UPDATE shop.stock SET pieces = pieces + 9 WHERE item = v_item;
        SET v_message = CONCAT('item ', v_item, ' runs out: ', v_pieces, ' pieces left, 9 ordered');
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = v_message;
    END IF;
END
