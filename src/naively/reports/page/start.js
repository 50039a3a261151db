header();
glance();
interactions();
explorer();
map();
evaluation();
comparison();
notes();
