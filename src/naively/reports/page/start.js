header();
glance();
explorer();
map();
evaluation();
comparison();
notes();
