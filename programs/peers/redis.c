// Two threads and a Redis server, by Debian's libhiredis (package libhiredis-dev).
//
//     sh build.sh redis && allways check redis-lost
//
// Each adds one over a connection of its own, by GET and SET: one of the updates can get lost. With -DINCR the server adds: the cure.
//
// With -DSHARED both use one connection. They hold a lock while they send and while they receive, but not in between: replies get
// swapped. With -DLOCKED, too, they hold it from the question to its answer: the cure.
#include <assert.h>
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisContext *open_connection(void) {
    redisContext *db = redisConnect("127.0.0.1", 6379);
    if (db == NULL || db->err) exit(3);
    return db;
}

static redisReply *checked(redisReply *reply) {
    if (reply == NULL || reply->type == REDIS_REPLY_ERROR) exit(4);
    return reply;
}

#ifdef SHARED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static redisContext *shared;

static void *echo(void *word) {
    redisReply *reply;
    int is_sent = 0;
    pthread_mutex_lock(&lock);
    redisAppendCommand(shared, "ECHO %s", word);
    while (!is_sent)
        if (redisBufferWrite(shared, &is_sent) != REDIS_OK) exit(5);
#ifndef LOCKED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (redisGetReply(shared, (void **)&reply) != REDIS_OK) exit(6);
    pthread_mutex_unlock(&lock);
    assert(strcmp(checked(reply)->str, word) == 0);
    freeReplyObject(reply);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    shared = open_connection();
    pthread_create(&one, NULL, echo, "one");
    pthread_create(&two, NULL, echo, "two");
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    redisFree(shared);
    return 0;
}
#else
static int value(redisContext *db) {
    redisReply *reply = checked(redisCommand(db, "GET x"));
    int number = reply->str ? atoi(reply->str) : 0;
    freeReplyObject(reply);
    return number;
}

static void *add(void *none) {
    redisContext *db = open_connection();
#ifdef INCR
    freeReplyObject(checked(redisCommand(db, "INCR x")));
#else
    freeReplyObject(checked(redisCommand(db, "SET x %d", value(db) + 1)));
#endif
    redisFree(db);
    return none;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    redisContext *db = open_connection();
    assert(value(db) == 2);
    redisFree(db);
    return 0;
}
#endif
