// Two threads add one to a number in a PostgreSQL table, each in a transaction of its own, by Debian's libpq (package libpq-dev).
//
//     sh build.sh postgres && sh postgres.sh init && allways check postgres-lost
//
// At READ COMMITTED, the default, both can read the old value: one of the updates gets lost. With -DFIXED they read it
// FOR UPDATE: who comes second is answered only after the first has committed, on another connection.
#include <assert.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
#define READ "SELECT n FROM counter FOR UPDATE"
#else
#define READ "SELECT n FROM counter"
#endif

static PGconn *open_connection(void) {
    PGconn *db = PQconnectdb("hostaddr=127.0.0.1 port=5432 user=postgres dbname=postgres sslmode=disable gssencmode=disable");
    if (PQstatus(db) != CONNECTION_OK) {
        fputs(PQerrorMessage(db), stderr);
        exit(3);
    }
    return db;
}

// Carries out commands; the number that the last one gives, or 0.
static int ask(PGconn *db, const char *commands) {
    PGresult *result = PQexec(db, commands);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        fputs(PQerrorMessage(db), stderr);
        exit(4);
    }
    int number = status == PGRES_TUPLES_OK ? atoi(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    return number;
}

static void *add(void *connection) {
    PGconn *db = connection;
    char update[64];
    snprintf(update, sizeof update, "UPDATE counter SET n = %d; COMMIT", ask(db, "BEGIN; " READ) + 1);
    ask(db, update);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    PGconn *first = open_connection(), *second = open_connection();
    pthread_create(&one, NULL, add, first);
    pthread_create(&two, NULL, add, second);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(ask(first, "SELECT n FROM counter") == 2);
    return 0;
}
