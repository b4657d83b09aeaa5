/* Calls every function that libhalcyon.so wraps, and keeps account of what each call counts as, how many bytes it moves
 * and in which segment. The account is made by hand beside each call: tests/exact_profile holds the profile against it.
 *
 *   mpirun -np N every_call [DIRECTORY]
 *
 * Files go to DIRECTORY (else the current one); the account of a rank to DIRECTORY/expected.<rank>.json, after
 * MPI_Finalize so that it does not count itself. Runs on two ranks or more.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

/* Open MPI 5 has most of MPI 4, and says that it is of MPI 3. */
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI_4 1
#define PERSISTENT(Name) MPI_##Name##_init
#else /* persistent collectives are an extension */
#define HAS_MPI_4 0
#include <mpi-ext.h> /* needs mpi.h before it */
#define PERSISTENT(Name) MPIX_##Name##_init
#endif
#define HAS_MPI_4_1 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))

/* A second build of this file calls the functions of large counts: LARGE_COUNTS is a header that renames the calls. */
#ifdef LARGE_COUNTS
#include LARGE_COUNTS
typedef MPI_Count Count;
typedef MPI_Aint Place;
#else
typedef int Count;
typedef int Place;
#endif

/* gcc calls these under _FORTIFY_SOURCE. They are declared here so that they are called with any compiler flags. */
extern int __open_2(const char *path, int flags);
extern int __open64_2(const char *path, int flags);
extern int __openat_2(int directory, const char *path, int flags);
extern int __openat64_2(int directory, const char *path, int flags);
extern ssize_t __read_chk(int file, void *data, size_t size, size_t limit);
extern ssize_t __pread_chk(int file, void *data, size_t size, off_t offset, size_t limit);
extern ssize_t __pread64_chk(int file, void *data, size_t size, off64_t offset, size_t limit);
extern size_t __fread_chk(void *data, size_t limit, size_t size, size_t count, FILE *stream);
extern char *__fgets_chk(char *data, size_t limit, int size, FILE *stream);
extern int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
extern int __printf_chk(int flag, const char *format, ...);
extern int __dprintf_chk(int file, int flag, const char *format, ...);
extern int __vdprintf_chk(int file, int flag, const char *format, va_list arguments);
extern int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments);
extern int __vprintf_chk(int flag, const char *format, va_list arguments);
extern char *__fgets_unlocked_chk(char *data, size_t limit, int size, FILE *stream);
extern size_t __fread_unlocked_chk(void *data, size_t limit, size_t size, size_t count, FILE *stream);

/* What a program calls under these names depends on the standard that it is compiled for. */
extern int fscanf_of_c89(FILE *stream, const char *format, ...) __asm__("fscanf");
extern int fscanf_of_c99(FILE *stream, const char *format, ...) __asm__("__isoc99_fscanf");
extern int scanf_of_c89(const char *format, ...) __asm__("scanf");
extern int scanf_of_c99(const char *format, ...) __asm__("__isoc99_scanf");
extern int vfscanf_of_c89(FILE *stream, const char *format, va_list arguments) __asm__("vfscanf");
extern int vfscanf_of_c99(FILE *stream, const char *format, va_list arguments) __asm__("__isoc99_vfscanf");
extern int vscanf_of_c89(const char *format, va_list arguments) __asm__("vscanf");
extern int vscanf_of_c99(const char *format, va_list arguments) __asm__("__isoc99_vscanf");

/* ---- the account ---- */

enum total {
  SENDS_BLOCKING, SENDS_NONBLOCKING, RECEIVES_BLOCKING, RECEIVES_NONBLOCKING,
  ONE_TO_ALL, ALL_TO_ONE, ALL_TO_ALL, RMA_OPERATIONS,
  FILE_OPENS, FILE_CLOSES, READS, WRITES,
  BYTES_SENT, BYTES_RECEIVED, BYTES_COLLECTIVE, RMA_BYTES, BYTES_READ, BYTES_WRITTEN,
  TOTALS
};
static const char *const total_names[TOTALS] = {
  "sends_blocking", "sends_nonblocking", "receives_blocking", "receives_nonblocking",
  "collectives_one_to_all", "collectives_all_to_one", "collectives_all_to_all", "rma_operations",
  "file_opens", "file_closes", "reads", "writes",
  "bytes_sent", "bytes_received", "bytes_collective", "rma_bytes", "bytes_read", "bytes_written"
};
enum { MOST_SEGMENTS = 1024 };
static long long expected[MOST_SEGMENTS][TOTALS];
static int segment;

static void one(enum total operations, enum total volume, long long bytes) {
  expected[segment][operations] += 1;
  expected[segment][volume] += bytes;
}
static void sent(long long bytes) { one(SENDS_BLOCKING, BYTES_SENT, bytes); }
static void isent(long long bytes) { one(SENDS_NONBLOCKING, BYTES_SENT, bytes); }
static void received(long long bytes) { one(RECEIVES_BLOCKING, BYTES_RECEIVED, bytes); }
static void ireceive_posted(void) { expected[segment][RECEIVES_NONBLOCKING] += 1; }
static void arrived(long long bytes) { expected[segment][BYTES_RECEIVED] += bytes; }
static void ireceived(long long bytes) { ireceive_posted(), arrived(bytes); } /* posted in this very segment */
static void one_to_all(long long bytes) { one(ONE_TO_ALL, BYTES_COLLECTIVE, bytes); }
static void all_to_one(long long bytes) { one(ALL_TO_ONE, BYTES_COLLECTIVE, bytes); }
static void all_to_all(long long bytes) { one(ALL_TO_ALL, BYTES_COLLECTIVE, bytes); }
static void boundary(void) { segment += 1; }
static void all_to_all_ending(int segments, long long bytes) {
  all_to_all(bytes);
  segment += segments;
}
static void one_sided(long long bytes) { one(RMA_OPERATIONS, RMA_BYTES, bytes); }
static void opened(void) { expected[segment][FILE_OPENS] += 1; }
static void closed(void) { expected[segment][FILE_CLOSES] += 1; }
static void got(long long bytes) { one(READS, BYTES_READ, bytes); }
static void put(long long bytes) { one(WRITES, BYTES_WRITTEN, bytes); }
static void got_character(void) { expected[segment][BYTES_READ] += 1; }
static void put_character(void) { expected[segment][BYTES_WRITTEN] += 1; }

/* ---- what all parts use ---- */

enum { INT = sizeof(int), DOUBLE = sizeof(double), LONG = sizeof(long) };

static MPI_Comm world;
static int rank, ranks, left, right;
static double out[4096], in[4096];
static MPI_Datatype gappy; /* three doubles out of every five: 24 bytes of data over 88 bytes of memory */
static const char *directory = ".";

/* Completes one request, each time in the next of MPI's ways, with and without a status. */
static void finish(MPI_Request *request) {
  static int turn;
  MPI_Status own;
  MPI_Status *status = turn / 9 % 2 ? &own : MPI_STATUS_IGNORE;
  MPI_Status *statuses = turn / 9 % 2 ? &own : MPI_STATUSES_IGNORE;
  int done = 0, index;
  switch (turn++ % 9) {
    case 0: MPI_Wait(request, status); break;
    case 1: MPI_Waitall(1, request, statuses); break;
    case 2: MPI_Waitany(1, request, &index, status); break;
    case 3: MPI_Waitsome(1, request, &done, &index, statuses); break;
    case 4: while (!done) MPI_Test(request, &done, status); break;
    case 5: /* MPICH 4.0.2 says, with or without Halcyon, that this fails of persistent collectives that have succeeded */
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      while (!done) MPI_Testall(1, request, &done, statuses);
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
      break;
    case 6: while (!done) MPI_Testany(1, request, &index, &done, status); break;
    case 7: while (!done) MPI_Testsome(1, request, &done, &index, statuses); break;
    case 8:
      MPI_Request_get_status(*request, &done, status); /* once, as MPICH 4.0.2 gets no file operation done in it */
      MPI_Wait(request, status);
      break;
  }
}

static void barrier(void) { MPI_Barrier(world), all_to_all_ending(1, 0); }

/* ---- point-to-point; message sizes differ from rank to rank, and receives are posted larger than what arrives ---- */

static void blocking_point_to_point(void) {
  const int mine = 10 + rank, from_left = 10 + left;
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  int found = 0;

  MPI_Bsend(out, mine, MPI_INT, right, 1, world), sent(mine * INT);
  MPI_Recv(in, 4096, MPI_INT, left, 1, world, MPI_STATUS_IGNORE), received(from_left * INT);
  MPI_Bsend(out, mine, MPI_DOUBLE, right, 2, world), sent(mine * DOUBLE);
  MPI_Recv(in, 4096, MPI_DOUBLE, MPI_ANY_SOURCE, 2, world, &status), received(from_left * DOUBLE);
  MPI_Bsend(out, 0, MPI_INT, right, 3, world), sent(0);
  MPI_Recv(in, 7, MPI_INT, left, MPI_ANY_TAG, world, &status), received(0);
  MPI_Bsend(out, 4, gappy, right, 4, world), sent(4 * 3 * DOUBLE);
  MPI_Recv(in, 12, MPI_DOUBLE, left, 4, world, &status), received(4 * 3 * DOUBLE);

  MPI_Irecv(in, 4096, MPI_CHAR, left, 5, world, &request);
  MPI_Send(out, 3000 + rank, MPI_CHAR, right, 5, world), sent(3000 + rank);
  MPI_Wait(&request, &status), ireceived(3000 + left);
  MPI_Irecv(in, 4096, MPI_INT, left, 6, world, &request);
  MPI_Ssend(out, mine, MPI_INT, right, 6, world), sent(mine * INT);
  MPI_Wait(&request, MPI_STATUS_IGNORE), ireceived(from_left * INT);
  MPI_Irecv(in, 4096, MPI_INT, left, 7, world, &request), ireceive_posted();
  barrier();
  MPI_Rsend(out, mine, MPI_INT, right, 7, world), sent(mine * INT);
  MPI_Wait(&request, &status), arrived(from_left * INT);

  MPI_Sendrecv(out, mine, MPI_INT, right, 8, in, 4096, MPI_INT, left, 8, world, &status);
  sent(mine * INT), received(from_left * INT);
  MPI_Sendrecv(out, mine, MPI_INT, rank, 8, in, 4096, MPI_INT, rank, 8, world, MPI_STATUS_IGNORE);
  sent(mine * INT), received(mine * INT);
  MPI_Sendrecv_replace(out, 20, MPI_DOUBLE, right, 9, left, 9, world, MPI_STATUS_IGNORE);
  sent(20 * DOUBLE), received(20 * DOUBLE);

  MPI_Send(out, 99, MPI_INT, MPI_PROC_NULL, 0, world), sent(0);
  MPI_Recv(in, 99, MPI_INT, MPI_PROC_NULL, 0, world, MPI_STATUS_IGNORE), received(0);
  MPI_Sendrecv(out, mine, MPI_INT, rank == 0 ? MPI_PROC_NULL : rank - 1, 10, in, 4096, MPI_INT,
               rank == ranks - 1 ? MPI_PROC_NULL : rank + 1, 10, world, &status);
  sent(rank == 0 ? 0 : mine * INT), received(rank == ranks - 1 ? 0 : (mine + 1) * INT);
  MPI_Sendrecv_replace(out, 5, MPI_INT, MPI_PROC_NULL, 10, MPI_PROC_NULL, 10, world, &status), sent(0), received(0);

  MPI_Bsend(out, mine, MPI_INT, right, 11, world), sent(mine * INT);
  MPI_Probe(left, 11, world, &status);
  MPI_Recv(in, 4096, MPI_INT, left, 11, world, &status), received(from_left * INT);
  MPI_Bsend(out, mine, MPI_INT, right, 12, world), sent(mine * INT);
  while (!found) MPI_Iprobe(left, 12, world, &found, MPI_STATUS_IGNORE);
  MPI_Recv(in, 4096, MPI_INT, left, 12, world, MPI_STATUS_IGNORE), received(from_left * INT);
  MPI_Bsend(out, mine, MPI_INT, right, 13, world), sent(mine * INT);
  MPI_Mprobe(left, 13, world, &message, &status);
  MPI_Mrecv(in, 4096, MPI_INT, &message, MPI_STATUS_IGNORE), received(from_left * INT);
  MPI_Bsend(out, mine, MPI_INT, right, 14, world), sent(mine * INT);
  for (found = 0; !found;) MPI_Improbe(left, 14, world, &found, &message, &status);
  MPI_Imrecv(in, 4096, MPI_INT, &message, &request), finish(&request), ireceived(from_left * INT);
  MPI_Mprobe(MPI_PROC_NULL, 0, world, &message, &status);
  MPI_Mrecv(in, 9, MPI_INT, &message, &status), received(0);
  MPI_Mprobe(MPI_PROC_NULL, 0, world, &message, &status);
  MPI_Imrecv(in, 9, MPI_INT, &message, &request), finish(&request), ireceived(0);
}

static void nonblocking_point_to_point(void) {
  const int mine = 10 + rank, from_left = 10 + left;
  MPI_Request requests[8];
  MPI_Status statuses[8];
  int done, indices[8];

  for (int way = 0; way < 18; ++way) { /* every way of finish(), with both kinds of status */
    MPI_Irecv(in, 4096, MPI_INT, left, 20, world, &requests[0]);
    MPI_Isend(out, mine + way, MPI_INT, right, 20, world, &requests[1]), isent((mine + way) * INT);
    finish(&requests[0]), ireceived((from_left + way) * INT);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }

  MPI_Irecv(in, 1024, MPI_INT, left, 21, world, &requests[0]), ireceive_posted();
  MPI_Irecv(in + 1024, 1024, MPI_DOUBLE, MPI_ANY_SOURCE, 22, world, &requests[1]), ireceive_posted();
  MPI_Irecv(in + 2048, 1024, MPI_CHAR, left, 23, world, &requests[2]), ireceive_posted();
  requests[3] = MPI_REQUEST_NULL;
  barrier();
  MPI_Ibsend(out, mine, MPI_INT, right, 21, world, &requests[4]), isent(mine * INT);
  MPI_Issend(out, mine, MPI_DOUBLE, right, 22, world, &requests[5]), isent(mine * DOUBLE);
  MPI_Irsend(out, mine, MPI_CHAR, right, 23, world, &requests[6]), isent(mine);
  MPI_Isend(out, 50, MPI_INT, MPI_PROC_NULL, 24, world, &requests[7]), isent(0);
  MPI_Waitall(8, requests, statuses), arrived(from_left * INT), arrived(from_left * DOUBLE), arrived(from_left);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE); /* all null by now: nothing completes twice */
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);

  MPI_Irecv(in, 10, MPI_INT, MPI_PROC_NULL, 25, world, &requests[0]);
  MPI_Isend(out, 10, MPI_INT, MPI_PROC_NULL, 25, world, &requests[1]), isent(0);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), ireceived(0);

  for (int i = 0; i < 4; ++i) MPI_Irecv(in + 512 * i, 1024, MPI_INT, left, 30 + i, world, &requests[i]);
  for (int i = 0; i < 4; ++i) MPI_Bsend(out, mine + i, MPI_INT, right, 30 + i, world), sent((mine + i) * INT);
  for (int left_over = 4; left_over > 0; --left_over) MPI_Waitany(4, requests, indices, statuses);
  for (int i = 0; i < 4; ++i) ireceived((from_left + i) * INT);

  for (int i = 0; i < 4; ++i) MPI_Irecv(in + 512 * i, 1024, MPI_INT, left, 40 + i, world, &requests[i]);
  for (int i = 0; i < 4; ++i) MPI_Bsend(out, mine + i, MPI_INT, right, 40 + i, world), sent((mine + i) * INT);
  for (int left_over = 4; left_over > 0; left_over -= done) {
    MPI_Waitsome(4, requests, &done, indices, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 4; ++i) ireceived((from_left + i) * INT);

  /* A cancelled receive counts as a receive of 0 bytes. The completion of a freed request is not seen. */
  MPI_Irecv(in, 10, MPI_INT, left, 50, world, &requests[0]);
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], &statuses[0]), ireceived(0);
  MPI_Isend(out, mine, MPI_INT, right, 51, world, &requests[0]), isent(mine * INT);
  MPI_Request_free(&requests[0]);
  MPI_Recv(in, 4096, MPI_INT, left, 51, world, MPI_STATUS_IGNORE), received(from_left * INT);
}

static void persistent_point_to_point(void) {
  const int mine = 10 + rank, from_left = 10 + left;
  MPI_Request requests[8], nobody[2], all_at_once[4];

  MPI_Recv_init(in, 1024, MPI_INT, left, 60, world, &requests[0]);
  MPI_Recv_init(in, 1024, MPI_INT, left, 61, world, &requests[1]);
  MPI_Recv_init(in, 1024, MPI_INT, left, 62, world, &requests[2]);
  MPI_Recv_init(in, 1024, MPI_INT, MPI_ANY_SOURCE, 63, world, &requests[3]);
  MPI_Send_init(out, mine, MPI_INT, right, 60, world, &requests[4]);
  MPI_Bsend_init(out, mine, MPI_INT, right, 61, world, &requests[5]);
  MPI_Ssend_init(out, mine, MPI_INT, right, 62, world, &requests[6]);
  MPI_Rsend_init(out, mine, MPI_INT, right, 63, world, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE); /* none is active yet */
  for (int round = 0; round < 3; ++round) {
    MPI_Startall(4, requests), ireceive_posted(), ireceive_posted(), ireceive_posted(), ireceive_posted();
    barrier(); /* the ready send needs its receive */
    for (int i = 4; i < 8; ++i) MPI_Start(&requests[i]), isent(mine * INT);
    if (round < 2) {
      MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int i = 0; i < 8; ++i) finish(&requests[i]);
    }
    for (int i = 0; i < 4; ++i) arrived(from_left * INT);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /* inactive again: nothing completes twice */
  }
  for (int i = 0; i < 8; ++i) MPI_Request_free(&requests[i]);

  MPI_Send_init(out, mine, MPI_INT, MPI_PROC_NULL, 64, world, &nobody[0]);
  MPI_Recv_init(in, mine, MPI_INT, MPI_PROC_NULL, 64, world, &nobody[1]);
  MPI_Startall(2, nobody), isent(0), ireceived(0);
  MPI_Waitall(2, nobody, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&nobody[i]);

  /* Point-to-point and collective operations, started and completed by one call each. */
  MPI_Recv_init(in, 1024, MPI_INT, left, 65, world, &all_at_once[0]);
  MPI_Send_init(out, mine, MPI_INT, right, 65, world, &all_at_once[1]);
  PERSISTENT(Barrier)(world, MPI_INFO_NULL, &all_at_once[2]);
  PERSISTENT(Bcast)(in + 1024, 3, MPI_INT, 0, world, MPI_INFO_NULL, &all_at_once[3]);
  for (int round = 0; round < 2; ++round) {
    MPI_Startall(4, all_at_once), isent(mine * INT), ireceived(from_left * INT);
    all_to_all(0), one_to_all(rank == 0 ? 3 * INT : 0);
    MPI_Waitall(4, all_at_once, MPI_STATUSES_IGNORE), boundary();
  }
  MPI_Waitall(4, all_at_once, MPI_STATUSES_IGNORE); /* none is active: no segment ends */
  for (int i = 0; i < 4; ++i) MPI_Request_free(&all_at_once[i]);
}

/* New with MPI 4. */
#ifdef OPEN_MPI
enum { TELLS_OF_ISENDRECV = 1 };
#else
enum { TELLS_OF_ISENDRECV = 0 }; /* in MPICH, its status does not say how many bytes */
#endif

static void completions_of_mpi_4_1(void) {
#if HAS_MPI_4_1
  MPI_Request requests[2];
  int are_there = 0, index, done = 0, indices[2];
  MPI_Irecv(in, 4, MPI_INT, left, 69, world, &requests[0]);
  MPI_Isend(out, 4, MPI_INT, right, 69, world, &requests[1]), isent(4 * INT);
  while (!are_there) MPI_Request_get_status_all(2, requests, &are_there, MPI_STATUSES_IGNORE);
  MPI_Request_get_status_any(2, requests, &index, &are_there, MPI_STATUS_IGNORE);
  MPI_Request_get_status_some(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), ireceived(4 * INT); /* they completed nothing */

  static char room[1024];
  void *back;
  Count size;
  MPI_Buffer_flush();
  MPI_Comm_attach_buffer(world, room, sizeof room);
  MPI_Comm_flush_buffer(world);
  MPI_Comm_detach_buffer(world, &back, &size);
#endif
}

static void sends_and_receives_of_mpi_4(void) {
#if HAS_MPI_4
#ifdef OPEN_MPI
  enum { ROUNDS = 1 }; /* Open MPI 5.0.11 often hangs in the second on four busy ranks, with or without Halcyon */
#else
  enum { ROUNDS = 2 };
#endif
  enum { PARTITIONS = 4, EACH = 3 };
  const int mine = 10 + rank;
  MPI_Request request, partitioned[2];
  int last[1] = {PARTITIONS - 1};

  for (int way = 0; way < 9; ++way) {
    MPI_Isendrecv(out, mine, MPI_INT, right, 66, in, 4096, MPI_INT, left, 66, world, &request), isent(mine * INT);
    finish(&request), ireceived(TELLS_OF_ISENDRECV * (10 + left) * INT);
  }
  MPI_Isendrecv_replace(out, 20, MPI_DOUBLE, right, 67, left, 67, world, &request), isent(20 * DOUBLE);
  finish(&request), ireceived(TELLS_OF_ISENDRECV * 20 * DOUBLE);

  MPI_Precv_init(in, PARTITIONS, EACH, MPI_INT, left, 68, world, MPI_INFO_NULL, &partitioned[0]);
  MPI_Psend_init(out, PARTITIONS, EACH, MPI_INT, right, 68, world, MPI_INFO_NULL, &partitioned[1]);
  for (int round = 0; round < ROUNDS; ++round) {
    int is_there = 0;
    MPI_Startall(2, partitioned), ireceive_posted();
    MPI_Pready(0, partitioned[1]), isent(EACH * INT);
    MPI_Pready_range(1, 2, partitioned[1]), isent(EACH * INT), isent(EACH * INT);
    barrier(); /* a partition belongs to the segment in which it is ready */
    MPI_Pready_list(1, last, partitioned[1]), isent(EACH * INT);
    while (!is_there) MPI_Parrived(partitioned[0], PARTITIONS - 1, &is_there);
    MPI_Waitall(2, partitioned, MPI_STATUSES_IGNORE), arrived(PARTITIONS * EACH * INT);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&partitioned[i]);
#endif
}

/* ---- collectives: each one blocking, non-blocking and persistent, with the same account ---- */

#ifdef OPEN_MPI
enum { STARTS = 2 };
#else
enum { STARTS = 1 }; /* MPICH 4.0.2 fails in some that are started again on three ranks, with or without Halcyon */
#endif

#define EVERY_WAY(Name, Iname, account, ...)                                        \
  do {                                                                              \
    MPI_Request every_way;                                                          \
    MPI_##Name(__VA_ARGS__), account;                                               \
    MPI_##Iname(__VA_ARGS__, &every_way), finish(&every_way), account;              \
    PERSISTENT(Name)(__VA_ARGS__, MPI_INFO_NULL, &every_way);                       \
    for (int start = 0; start < STARTS; ++start) {                                  \
      MPI_Start(&every_way), finish(&every_way), account;                           \
    }                                                                               \
    MPI_Request_free(&every_way);                                                   \
  } while (0)

static int sum_of(const Count *counts, int size) {
  int sum = 0;
  for (int i = 0; i < size; ++i) sum += counts[i];
  return sum;
}

/* `ends`: whether an all-to-all collective on `comm` ends a segment. */
static void every_collective(MPI_Comm comm, int ends) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  const int root = size - 1, at_root = me == root;
  Count ramp[size], mixed[size];
  Place ramp_at[size], mixed_at[size], mixed_bytes_at[size];
  MPI_Datatype ints[size], nulls[size];
  for (int i = 0; i < size; ++i) {
    ramp[i] = i + 1; /* what rank i contributes */
    ramp_at[i] = i * size;
    mixed[i] = (me + i) % 3; /* what ranks `me` and i exchange; none between some */
    mixed_at[i] = 3 * i;
    mixed_bytes_at[i] = 3 * i * INT;
    ints[i] = MPI_INT;
    nulls[i] = MPI_DATATYPE_NULL;
  }
  const MPI_Datatype int_at_root = at_root ? MPI_INT : MPI_DATATYPE_NULL;
  void *const in_place = MPI_IN_PLACE;

  EVERY_WAY(Bcast, Ibcast, one_to_all(at_root ? 6 * DOUBLE : 0), out, 6, MPI_DOUBLE, root, comm);
  EVERY_WAY(Bcast, Ibcast, one_to_all(at_root ? 2 * 3 * DOUBLE : 0), out, 2, gappy, root, comm);
  EVERY_WAY(Scatter, Iscatter, one_to_all(at_root ? size * 3 * INT : 0),
            at_root ? out : NULL, 3, int_at_root, in, 3, MPI_INT, root, comm);
  EVERY_WAY(Scatter, Iscatter, one_to_all(at_root ? size * 3 * INT : 0),
            out, 3, int_at_root, at_root ? in_place : in, 3, at_root ? MPI_DATATYPE_NULL : MPI_INT, root, comm);
  EVERY_WAY(Scatterv, Iscatterv, one_to_all(at_root ? sum_of(ramp, size) * INT : 0), out, at_root ? ramp : NULL,
            at_root ? ramp_at : NULL, int_at_root, in, ramp[me], MPI_INT, root, comm);

  EVERY_WAY(Reduce, Ireduce, all_to_one(5 * DOUBLE), out, at_root ? in : NULL, 5, MPI_DOUBLE, MPI_SUM, root, comm);
  EVERY_WAY(Reduce, Ireduce, all_to_one(5 * DOUBLE), at_root ? in_place : out, in, 5, MPI_DOUBLE, MPI_SUM, root, comm);
  EVERY_WAY(Gather, Igather, all_to_one(4 * INT), out, 4, MPI_INT, in, 4, int_at_root, root, comm);
  EVERY_WAY(Gather, Igather, all_to_one(4 * INT), at_root ? in_place : out, 4, at_root ? MPI_DATATYPE_NULL : MPI_INT,
            in, 4, int_at_root, root, comm);
  EVERY_WAY(Gatherv, Igatherv, all_to_one(ramp[me] * INT), out, ramp[me], MPI_INT, in, at_root ? ramp : NULL,
            at_root ? ramp_at : NULL, int_at_root, root, comm);
  EVERY_WAY(Gatherv, Igatherv, all_to_one(ramp[me] * INT), at_root ? in_place : out, at_root ? 0 : ramp[me],
            at_root ? MPI_DATATYPE_NULL : MPI_INT, in, at_root ? ramp : NULL, at_root ? ramp_at : NULL, int_at_root,
            root, comm);

  EVERY_WAY(Barrier, Ibarrier, all_to_all_ending(ends, 0), comm);
  EVERY_WAY(Allreduce, Iallreduce, all_to_all_ending(ends, 7 * DOUBLE), out, in, 7, MPI_DOUBLE, MPI_SUM, comm);
  EVERY_WAY(Allreduce, Iallreduce, all_to_all_ending(ends, 7 * DOUBLE), in_place, in, 7, MPI_DOUBLE, MPI_MAX, comm);
  EVERY_WAY(Allgather, Iallgather, all_to_all_ending(ends, 3 * INT), out, 3, MPI_INT, in, 3, MPI_INT, comm);
  EVERY_WAY(Allgather, Iallgather, all_to_all_ending(ends, 3 * DOUBLE), out, 1, gappy, in, 3, MPI_DOUBLE, comm);
  EVERY_WAY(Allgather, Iallgather, all_to_all_ending(ends, 3 * INT), in_place, 0, MPI_DATATYPE_NULL, in, 3, MPI_INT,
            comm);
  EVERY_WAY(Allgatherv, Iallgatherv, all_to_all_ending(ends, ramp[me] * INT), out, ramp[me], MPI_INT, in, ramp, ramp_at,
            MPI_INT, comm);
  EVERY_WAY(Allgatherv, Iallgatherv, all_to_all_ending(ends, ramp[me] * INT), in_place, 0, MPI_DATATYPE_NULL, in, ramp,
            ramp_at, MPI_INT, comm);
  EVERY_WAY(Alltoall, Ialltoall, all_to_all_ending(ends, size * 2 * INT), out, 2, MPI_INT, in, 2, MPI_INT, comm);
  EVERY_WAY(Alltoall, Ialltoall, all_to_all_ending(ends, size * 2 * INT), in_place, 0, MPI_DATATYPE_NULL, in, 2,
            MPI_INT, comm);
  EVERY_WAY(Alltoallv, Ialltoallv, all_to_all_ending(ends, sum_of(mixed, size) * INT), out, mixed, mixed_at, MPI_INT,
            in, mixed, mixed_at, MPI_INT, comm);
  EVERY_WAY(Alltoallv, Ialltoallv, all_to_all_ending(ends, sum_of(mixed, size) * INT), in_place, NULL, NULL,
            MPI_DATATYPE_NULL, in, mixed, mixed_at, MPI_INT, comm);
  EVERY_WAY(Alltoallw, Ialltoallw, all_to_all_ending(ends, sum_of(mixed, size) * INT), out, mixed, mixed_bytes_at, ints,
            in, mixed, mixed_bytes_at, ints, comm);
  EVERY_WAY(Alltoallw, Ialltoallw, all_to_all_ending(ends, sum_of(mixed, size) * INT), in_place, NULL, NULL, nulls, in,
            mixed, mixed_bytes_at, ints, comm);
  EVERY_WAY(Reduce_scatter, Ireduce_scatter, all_to_all_ending(ends, sum_of(ramp, size) * INT), out, in, ramp, MPI_INT,
            MPI_SUM, comm);
  EVERY_WAY(Reduce_scatter, Ireduce_scatter, all_to_all_ending(ends, sum_of(ramp, size) * INT), in_place, in, ramp,
            MPI_INT, MPI_SUM, comm);
  EVERY_WAY(Reduce_scatter_block, Ireduce_scatter_block, all_to_all_ending(ends, size * 3 * INT), out, in, 3, MPI_INT,
            MPI_SUM, comm);
  EVERY_WAY(Reduce_scatter_block, Ireduce_scatter_block, all_to_all_ending(ends, size * 3 * INT), in_place, in, 3,
            MPI_INT, MPI_SUM, comm);

  EVERY_WAY(Scan, Iscan, all_to_all(5 * INT), out, in, 5, MPI_INT, MPI_SUM, comm);
  EVERY_WAY(Scan, Iscan, all_to_all(5 * INT), in_place, in, 5, MPI_INT, MPI_SUM, comm);
  EVERY_WAY(Exscan, Iexscan, all_to_all(5 * INT), out, in, 5, MPI_INT, MPI_SUM, comm);
}

/* Several boundaries may be pending at once. What a call completes besides them belongs to the first segment it ends. */
static void overlapping_boundaries(void) {
  MPI_Request requests[4];
  MPI_Ibarrier(world, &requests[0]), all_to_all(0);
  MPI_Iallreduce(out, in, 4, MPI_INT, MPI_SUM, world, &requests[1]), all_to_all(4 * INT);
  MPI_Irecv(in + 1024, 64, MPI_INT, left, 70, world, &requests[2]);
  MPI_Isend(out, 8, MPI_INT, right, 70, world, &requests[3]), isent(8 * INT);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE), ireceived(8 * INT), boundary(), boundary();
}

/* A collective from all to one rank, followed by one from that rank to all, is a boundary. */
static void rooted_pairs(void) {
  const int last = ranks - 1;
  MPI_Request request;
  MPI_Reduce(out, in, 5, MPI_DOUBLE, MPI_SUM, 0, world), all_to_one(5 * DOUBLE);
  MPI_Bcast(out, 6, MPI_INT, 0, world), one_to_all(rank == 0 ? 6 * INT : 0), boundary();
  MPI_Bcast(out, 6, MPI_INT, 0, world), one_to_all(rank == 0 ? 6 * INT : 0);
  MPI_Gather(out, 4, MPI_INT, in, 4, MPI_INT, last, world), all_to_one(4 * INT);
  MPI_Iscatter(out, 3, MPI_INT, in, 3, MPI_INT, last, world, &request), one_to_all(rank == last ? ranks * 3 * INT : 0);
  finish(&request), boundary();
  MPI_Pcontrol(1); /* a single mark is not a boundary */
}

/* Rank 0 on one side, all others on the other: the sides differ in size on three ranks and more. */
static void intercommunicator_collectives(void) {
  MPI_Comm side, inter, merged;
  const int alone = rank == 0;
  MPI_Comm_split(world, alone, rank, &side);
  MPI_Intercomm_create(side, 0, world, alone ? 1 : 0, 80, &inter);
  const int here = alone ? 1 : ranks - 1, there = alone ? ranks - 1 : 1;
  const int root = alone ? MPI_ROOT : 0; /* rank 0 is the root of all rooted ones */
  Count ramp[ranks], twos[ranks];
  Place ramp_at[ranks], twos_at[ranks], twos_bytes_at[ranks];
  MPI_Datatype ints[ranks];
  for (int i = 0; i < ranks; ++i) {
    ramp[i] = i + 1;
    ramp_at[i] = i * ranks;
    twos[i] = 2;
    twos_at[i] = 2 * i;
    twos_bytes_at[i] = 2 * i * INT;
    ints[i] = MPI_INT;
  }

  MPI_Bcast(out, 6, MPI_INT, root, inter), one_to_all(alone ? 6 * INT : 0);
  MPI_Scatter(out, 3, MPI_INT, in, 3, MPI_INT, root, inter), one_to_all(alone ? there * 3 * INT : 0);
  MPI_Scatterv(out, ramp, ramp_at, MPI_INT, in, rank, MPI_INT, root, inter);
  one_to_all(alone ? sum_of(ramp, there) * INT : 0);
  MPI_Reduce(out, in, 5, MPI_DOUBLE, MPI_SUM, root, inter), all_to_one(alone ? 0 : 5 * DOUBLE);
  MPI_Gather(out, 4, MPI_INT, in, 4, MPI_INT, root, inter), all_to_one(alone ? 0 : 4 * INT);
  MPI_Gatherv(out, rank, MPI_INT, in, ramp, ramp_at, MPI_INT, root, inter), all_to_one(alone ? 0 : rank * INT);
  /* The other way round: rank 1 is the root, and all others of its side have no part. */
  const int other_root = alone ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(out, 6, MPI_INT, other_root, inter), one_to_all(rank == 1 ? 6 * INT : 0);
  MPI_Reduce(out, in, 5, MPI_DOUBLE, MPI_SUM, other_root, inter), all_to_one(alone ? 5 * DOUBLE : 0);

  MPI_Barrier(inter), all_to_all(0);
  MPI_Allreduce(out, in, 7, MPI_DOUBLE, MPI_SUM, inter), all_to_all(7 * DOUBLE);
  MPI_Allgather(out, 3, MPI_INT, in, 3, MPI_INT, inter), all_to_all(3 * INT);
  MPI_Allgatherv(out, 2, MPI_INT, in, twos, twos_at, MPI_INT, inter), all_to_all(2 * INT);
  MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, inter), all_to_all(there * 2 * INT);
  MPI_Alltoallv(out, twos, twos_at, MPI_INT, in, twos, twos_at, MPI_INT, inter), all_to_all(there * 2 * INT);
  MPI_Alltoallw(out, twos, twos_bytes_at, ints, in, twos, twos_bytes_at, ints, inter), all_to_all(there * 2 * INT);
  /* Both sides hand in vectors of the same length, divided among the members of one's own side (MPI 3.1, 5.10.2). */
  Count shares[here];
  for (int i = 0; i < here; ++i) shares[i] = alone ? 6 * (ranks - 1) : 6;
  MPI_Reduce_scatter(out, in, shares, MPI_INT, MPI_SUM, inter), all_to_all(6 * (ranks - 1) * INT);
  MPI_Reduce_scatter_block(out, in, shares[0], MPI_INT, MPI_SUM, inter), all_to_all(6 * (ranks - 1) * INT);

  MPI_Intercomm_merge(inter, alone, &merged);
  MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, merged), all_to_all_ending(1, INT);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&side);
}

static void neighbourhood_collectives(MPI_Comm comm, int from, int to) {
  const int most = from > to ? from : to;
  Count counts[most];
  Place at[most];
  MPI_Aint bytes_at[most];
  MPI_Datatype ints[most];
  for (int i = 0; i < most; ++i) {
    counts[i] = 3;
    at[i] = 3 * i;
    bytes_at[i] = 3 * i * INT;
    ints[i] = MPI_INT;
  }
  EVERY_WAY(Neighbor_allgather, Ineighbor_allgather, all_to_all(3 * INT), out, 3, MPI_INT, in, 3, MPI_INT, comm);
  EVERY_WAY(Neighbor_allgatherv, Ineighbor_allgatherv, all_to_all(3 * INT), out, 3, MPI_INT, in, counts, at, MPI_INT,
            comm);
  EVERY_WAY(Neighbor_alltoall, Ineighbor_alltoall, all_to_all(to * 3 * INT), out, 3, MPI_INT, in, 3, MPI_INT, comm);
  EVERY_WAY(Neighbor_alltoallv, Ineighbor_alltoallv, all_to_all(to * 3 * INT), out, counts, at, MPI_INT, in, counts, at,
            MPI_INT, comm);
  EVERY_WAY(Neighbor_alltoallw, Ineighbor_alltoallw, all_to_all(to * 3 * INT), out, counts, bytes_at, ints, in, counts,
            bytes_at, ints, comm);
}

static void topologies(void) {
  MPI_Comm cart, line, graph, star, ring;
  const int around = 1, keep = 1;
  MPI_Cart_create(world, 1, &ranks, &around, 0, &cart);
  neighbourhood_collectives(cart, 2, 2);
  MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, cart), all_to_all_ending(1, INT); /* as large as the world */
  MPI_Cart_sub(cart, &keep, &line);
  MPI_Comm_free(&line);
  MPI_Comm_free(&cart);

  int ends[ranks], edges[2 * ranks];
  for (int i = 0; i < ranks; ++i) {
    ends[i] = 2 * (i + 1);
    edges[2 * i] = (i + ranks - 1) % ranks;
    edges[2 * i + 1] = (i + 1) % ranks;
  }
  MPI_Graph_create(world, ranks, ends, edges, 0, &graph);
  neighbourhood_collectives(graph, 2, 2);
  MPI_Comm_free(&graph);

  /* All ranks send to rank 0: as many sources there as ranks, one destination everywhere. */
  int everyone[ranks];
  const int middle = 0, sources = rank == 0 ? ranks : 0;
  for (int i = 0; i < ranks; ++i) everyone[i] = i;
  MPI_Dist_graph_create_adjacent(world, sources, everyone, everyone, 1, &middle, &middle, MPI_INFO_NULL, 0, &star);
  neighbourhood_collectives(star, sources, 1);
  MPI_Comm_free(&star);
  const int one_edge = 1;
  MPI_Dist_graph_create(world, 1, &rank, &one_edge, &right, &one_edge, MPI_INFO_NULL, 0, &ring);
  neighbourhood_collectives(ring, 1, 1);
  MPI_Comm_free(&ring);
}

/* The size of a communicator decides whether it ends a segment, not its handle. */
static void communicators(void) {
  MPI_Comm comm;
  MPI_Group everyone, half;
  MPI_Request request;

  every_collective(world, 1);
  MPI_Comm_split(world, 0, -rank, &comm);
  every_collective(comm, 1);
  MPI_Comm_free(&comm);
  MPI_Comm_split(world, rank < ranks / 2, rank, &comm);
  every_collective(comm, 0);
  MPI_Comm_disconnect(&comm);

  MPI_Comm_idup(world, &comm, &request), finish(&request);
  MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, comm), all_to_all_ending(1, INT);
  MPI_Comm_free(&comm);
#if HAS_MPI_4
  MPI_Comm_idup_with_info(world, MPI_INFO_NULL, &comm, &request), finish(&request);
  MPI_Comm_free(&comm);
#endif
  MPI_Comm_dup_with_info(world, MPI_INFO_NULL, &comm);
  MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, comm), all_to_all_ending(1, INT);
  MPI_Comm_free(&comm);
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  MPI_Comm_free(&comm);
  MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_SELF), all_to_all(3 * INT);

  const int first[1] = {0};
  MPI_Comm_group(world, &everyone);
  MPI_Group_incl(everyone, 1, first, &half);
  MPI_Comm_create(world, half, &comm);
  if (rank == 0) MPI_Comm_free(&comm);
  if (rank == 0) {
    MPI_Comm_create_group(world, half, 90, &comm);
    MPI_Barrier(comm), all_to_all(0);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&half);
  MPI_Group_free(&everyone);
}

/* ---- one-sided ---- */

static void transfers_by_request(MPI_Win window, int target) {
  MPI_Request request;
  static long here[8], result[8];
  MPI_Rput(here, 3, MPI_LONG, target, 0, 3, MPI_LONG, window, &request), finish(&request), one_sided(3 * LONG);
  MPI_Rget(here, 5, MPI_LONG, target, 0, 5, MPI_LONG, window, &request), finish(&request), one_sided(5 * LONG);
  MPI_Raccumulate(here, 2, MPI_LONG, target, 0, 2, MPI_LONG, MPI_SUM, window, &request), finish(&request);
  one_sided(2 * LONG);
  MPI_Rget_accumulate(here, 4, MPI_LONG, result, 4, MPI_LONG, target, 0, 4, MPI_LONG, MPI_SUM, window, &request);
  finish(&request), one_sided(4 * LONG);
}

static void transfers(MPI_Win window, int target) {
  static long here[8], result[8], compare;
  MPI_Put(here, 3, MPI_LONG, target, 0, 3, MPI_LONG, window), one_sided(3 * LONG);
  MPI_Get(result, 5, MPI_LONG, target, 8, 5, MPI_LONG, window), one_sided(5 * LONG);
  MPI_Accumulate(here, 2, MPI_LONG, target, 16, 2, MPI_LONG, MPI_SUM, window), one_sided(2 * LONG);
  MPI_Get_accumulate(here, 4, MPI_LONG, result, 4, MPI_LONG, target, 24, 4, MPI_LONG, MPI_SUM, window);
  one_sided(4 * LONG);
  MPI_Fetch_and_op(here, result, MPI_LONG, target, 32, MPI_SUM, window), one_sided(LONG);
  MPI_Compare_and_swap(here, &compare, result, MPI_LONG, target, 40, window), one_sided(LONG);
}

static void one_sided_communication(void) {
  static long memory[64];
  MPI_Win window;
  MPI_Group everyone, to, from;
  int done = 0;

  MPI_Win_create(memory, sizeof memory, LONG, MPI_INFO_NULL, world, &window);
  MPI_Win_fence(0, window);
  transfers(window, right);
  MPI_Put(memory, 9, MPI_LONG, MPI_PROC_NULL, 0, 9, MPI_LONG, window), one_sided(0);
  MPI_Win_fence(0, window);

  MPI_Comm_group(world, &everyone);
  MPI_Group_incl(everyone, 1, &right, &to);
  MPI_Group_incl(everyone, 1, &left, &from);
  for (int round = 0; round < 2; ++round) {
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(out, 2, MPI_LONG, right, 0, 2, MPI_LONG, window), one_sided(2 * LONG);
    MPI_Win_complete(window);
    if (round == 0) MPI_Win_wait(window);
    while (round == 1 && !done) MPI_Win_test(window, &done);
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&everyone);

  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
  transfers(window, right);
  MPI_Win_flush(right, window);
  transfers_by_request(window, right);
  MPI_Win_flush_local(right, window);
  MPI_Win_unlock(right, window);
  MPI_Win_lock_all(0, window);
  transfers_by_request(window, left);
  MPI_Win_flush_all(window);
  MPI_Win_flush_local_all(window);
  MPI_Win_sync(window);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);

  /* Open MPI 4.1.4 dies of atomics on allocated windows, with or without Halcyon. */
  long *base;
  MPI_Win_allocate(64 * LONG, LONG, MPI_INFO_NULL, world, &base, &window);
  MPI_Win_fence(0, window);
  MPI_Put(memory, 6, MPI_LONG, right, 0, 6, MPI_LONG, window), one_sided(6 * LONG);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);

  MPI_Win_allocate_shared(8 * LONG, LONG, MPI_INFO_NULL, world, &base, &window);
  MPI_Win_free(&window);
  MPI_Win_create_dynamic(MPI_INFO_NULL, world, &window);
  MPI_Win_free(&window);
}

/* ---- MPI-IO: one file of all ranks, and in it a stretch of each ---- */

static void mpi_io(void) {
  enum { MINE = 4096 };
  char path[4096];
  const MPI_Offset at = (MPI_Offset)MINE * rank;
  const int odd = 30 + rank;
  MPI_File file;
  MPI_Info hints;
  MPI_Request request;
  MPI_Status status;
  snprintf(path, sizeof path, "%s/every_call.mpiio", directory);

  MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), opened();
  MPI_File_set_size(file, 0);
  MPI_File_preallocate(file, (MPI_Offset)MINE * ranks);
  MPI_File_set_atomicity(file, 0);
  MPI_Info_create(&hints);
  MPI_File_set_info(file, hints);
  MPI_Info_free(&hints);
  MPI_File_set_view(file, at, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_write(file, out, odd, MPI_INT, &status), put(odd * INT);
  MPI_File_write_all(file, out, odd, MPI_INT, MPI_STATUS_IGNORE), put(odd * INT);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read(file, in, odd, MPI_INT, MPI_STATUS_IGNORE), got(odd * INT);
  MPI_File_read_all(file, in, odd, MPI_INT, &status), got(odd * INT);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_write_at(file, at, out, 5, gappy, &status), put(5 * 3 * DOUBLE);
  MPI_File_write_at_all(file, at, out, odd, MPI_INT, MPI_STATUS_IGNORE), put(odd * INT);
  MPI_File_write_at_all(file, at, out, 0, MPI_INT, MPI_STATUS_IGNORE), put(0);
  MPI_File_sync(file);
  barrier(); /* what others wrote is in the file */
  MPI_File_read_at(file, at, in, 5, gappy, MPI_STATUS_IGNORE), got(5 * 3 * DOUBLE);
  MPI_File_read_at_all(file, at, in, odd, MPI_INT, &status), got(odd * INT);
  MPI_File_read_at(file, (MPI_Offset)MINE * ranks - 12, in, 10, MPI_INT, MPI_STATUS_IGNORE), got(12); /* the end */
  MPI_File_read_at(file, (MPI_Offset)MINE * ranks, in, 10, MPI_INT, MPI_STATUS_IGNORE), got(0);       /* beyond it */

  MPI_File_seek(file, at, MPI_SEEK_SET);
  MPI_File_iwrite(file, out, odd, MPI_INT, &request), finish(&request), put(odd * INT);
  MPI_File_iwrite_all(file, out, odd, MPI_INT, &request), finish(&request), put(odd * INT);
  MPI_File_iwrite_at(file, at, out, odd, MPI_INT, &request), finish(&request), put(odd * INT);
  MPI_File_iwrite_at_all(file, at, out, odd, MPI_INT, &request), finish(&request), put(odd * INT);
  MPI_File_seek(file, at, MPI_SEEK_SET);
  MPI_File_iread(file, in, odd, MPI_INT, &request), finish(&request), got(odd * INT);
  MPI_File_iread_all(file, in, odd, MPI_INT, &request), finish(&request), got(odd * INT);
  MPI_File_iread_at(file, at, in, odd, MPI_INT, &request), finish(&request), got(odd * INT);
  MPI_File_iread_at_all(file, at, in, odd, MPI_INT, &request), finish(&request), got(odd * INT);

  MPI_File_seek(file, at, MPI_SEEK_SET);
  MPI_File_write_all_begin(file, out, odd, MPI_INT), MPI_File_write_all_end(file, out, &status), put(odd * INT);
  MPI_File_write_at_all_begin(file, at, out, odd, MPI_INT), put(odd * INT);
  MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
  MPI_File_seek(file, at, MPI_SEEK_SET);
  MPI_File_read_all_begin(file, in, odd, MPI_INT), MPI_File_read_all_end(file, in, &status), got(odd * INT);
  MPI_File_read_at_all_begin(file, at, in, odd, MPI_INT), got(odd * INT);
  MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE);
  MPI_File_close(&file), closed();

  MPI_File_open(world, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file), opened();
  MPI_File_write_shared(file, out, odd, MPI_INT, &status), put(odd * INT);
  MPI_File_write_ordered(file, out, odd, MPI_INT, MPI_STATUS_IGNORE), put(odd * INT);
  MPI_File_iwrite_shared(file, out, odd, MPI_INT, &request), finish(&request), put(odd * INT);
  MPI_File_write_ordered_begin(file, out, odd, MPI_INT), MPI_File_write_ordered_end(file, out, &status), put(odd * INT);
  barrier(); /* the pointer that all share goes back only when all have moved it */
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_read_shared(file, in, odd, MPI_INT, MPI_STATUS_IGNORE), got(odd * INT);
  MPI_File_read_ordered(file, in, odd, MPI_INT, &status), got(odd * INT);
  MPI_File_iread_shared(file, in, odd, MPI_INT, &request), finish(&request), got(odd * INT);
  MPI_File_read_ordered_begin(file, in, odd, MPI_INT), MPI_File_read_ordered_end(file, in, &status), got(odd * INT);
  MPI_File_close(&file), closed();
  barrier();
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
}

/* ---- POSIX: one file a rank ---- */

static void print_to_file(int checked, int file, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  checked ? __vdprintf_chk(file, 1, format, arguments) : vdprintf(file, format, arguments);
  va_end(arguments);
}

static void posix_io(void) {
  char path[4096], data[256] = {0};
  struct iovec parts[2] = {{data, 10}, {data + 10, 20}};
  int file;
  snprintf(path, sizeof path, "%s/every_call.%d.posix", directory, rank);

  file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600), opened();
  write(file, data, 100), put(100);
  pwrite(file, data, 30, 0), put(30);
  pwrite64(file, data, 31, 0), put(31);
  writev(file, parts, 2), put(30);
  pwritev(file, parts, 2, 0), put(30);
  pwritev64(file, parts, 2, 0), put(30);
  pwritev2(file, parts, 2, 0, 0), put(30);
  pwritev64v2(file, parts, 1, 0, 0), put(10);
  fsync(file);
  fdatasync(file);
  lseek(file, 0, SEEK_SET);
  read(file, data, 50), got(50);
  __read_chk(file, data, 20, sizeof data), got(20);
  pread(file, data, 30, 0), got(30);
  pread64(file, data, 31, 0), got(31);
  __pread_chk(file, data, 30, 0, sizeof data), got(30);
  __pread64_chk(file, data, 31, 0, sizeof data), got(31);
  readv(file, parts, 2), got(30);
  preadv(file, parts, 2, 0), got(30);
  preadv64(file, parts, 2, 0), got(30);
  preadv2(file, parts, 2, 0, 0), got(30);
  preadv64v2(file, parts, 1, 0, 0), got(10);
  read(file, data, sizeof data), got(30); /* all that is left of the file's 130 bytes */
  read(file, data, sizeof data), got(0);
  dprintf(file, "%d and %d", 12, 34), put(9);
  __dprintf_chk(file, 1, "%d and %d", 12, 34), put(9);
  print_to_file(0, file, "%d and %d", 12, 34), put(9);
  print_to_file(1, file, "%d and %d", 12, 34), put(9);
  off64_t from = 0, to = 0;
  sendfile(file, file, &from, 40), got(40), put(40);
  from = 0;
  sendfile64(file, file, &from, 41), got(41), put(41);
  from = 0, to = 4096;
  copy_file_range(file, &from, file, &to, 42, 0), got(42), put(42);
  int ends[2];
  if (pipe(ends) != 0) MPI_Abort(world, 1);
  from = to = 0;
  splice(file, &from, ends[1], NULL, 43, 0), got(43);
  splice(ends[0], NULL, file, &to, 43, 0), put(43);
  syncfs(file);
  sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);

  /* Each new descriptor of a file is an open. */
  int copy = dup(file);
  opened();
  dup2(file, copy), closed(), opened();
  dup2(copy, copy);
  dup2(ends[0], copy), closed();
  dup3(file, copy, O_CLOEXEC), opened();
  close_range((unsigned)copy, (unsigned)copy, CLOSE_RANGE_CLOEXEC);
  close_range((unsigned)copy, (unsigned)copy, 0), closed();
  copy = fcntl(file, F_DUPFD, 900), opened();
  fcntl64(file, F_DUPFD_CLOEXEC, copy), opened();
  fcntl(file, F_GETFL);
  closefrom(copy), closed(), closed();
  close(ends[0]);
  close(ends[1]);
  close(file), closed();

  /* Failed calls, and calls on what is not a regular file, do not count. */
  read(file, data, 10);
  write(-1, data, 10);
  close(-1);
  open("/nowhere/at/all", O_RDONLY);
  file = open("/dev/null", O_RDWR);
  write(file, data, 10);
  close(file);
  if (pipe(ends) == 0) {
    write(ends[1], data, 10);
    read(ends[0], data, 10);
    close(ends[0]);
    close(ends[1]);
  }
  file = open("/proc/self/status", O_RDONLY);
  read(file, data, 10);
  close(file);

  file = open64(path, O_RDONLY), opened(), close(file), closed();
  file = __open_2(path, O_RDONLY), opened(), close(file), closed();
  file = __open64_2(path, O_RDONLY), opened(), close(file), closed();
  file = openat(AT_FDCWD, path, O_RDONLY), opened(), close(file), closed();
  file = openat64(AT_FDCWD, path, O_RDONLY), opened(), close(file), closed();
  file = __openat_2(AT_FDCWD, path, O_RDONLY), opened(), close(file), closed();
  file = __openat64_2(AT_FDCWD, path, O_RDONLY), opened(), close(file), closed();
  file = creat(path, 0600), opened(), close(file), closed();
  file = creat64(path, 0600), opened(), close(file), closed();
  unlink(path);

  struct file_handle nowhere = {0};
  open_by_handle_at(AT_FDCWD, &nowhere, O_RDONLY);
  snprintf(path, sizeof path, "/every_call.%d", (int)getpid());
  file = shm_open(path, O_CREAT | O_RDWR, 0600), opened(), close(file), closed();
  shm_unlink(path);
  file = memfd_create("every_call", 0), opened(), close(file), closed();
}

static void temporary_files(void) {
  static int (*const plain[])(char *) = {mkstemp, mkstemp64};
  static int (*const with_flags[])(char *, int) = {mkostemp, mkostemp64};
  static int (*const with_suffix[])(char *, int) = {mkstemps, mkstemps64};
  static int (*const with_both[])(char *, int, int) = {mkostemps, mkostemps64};
  static FILE *(*const streams[])(void) = {tmpfile, tmpfile64};
  char path[4096];
  for (int of = 0; of < 8; ++of) {
    snprintf(path, sizeof path, "%s/every_call.XXXXXX%s", directory, of < 4 ? "" : ".t");
    const int which = of % 2;
    const int file = of < 2   ? plain[which](path)
                     : of < 4 ? with_flags[which](path, O_CLOEXEC)
                     : of < 6 ? with_suffix[which](path, 2)
                              : with_both[which](path, 2, O_CLOEXEC);
    opened();
    write(file, path, 10), put(10);
    close(file), closed();
    unlink(path);
  }
  for (int which = 0; which < 2; ++which) {
    FILE *stream = streams[which]();
    opened();
    fputs("0123456789", stream), put(10);
    fclose(stream), closed();
  }
}

/* An operation counts when its result is taken. */
static void asynchronous_io(void) {
  char path[4096], data[64] = {0};
  snprintf(path, sizeof path, "%s/every_call.%d.aio", directory, rank);
  const int file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
  opened();
  struct aiocb one = {.aio_fildes = file, .aio_buf = data, .aio_nbytes = 20};
  const struct aiocb *const wait_for[] = {&one};
  struct aiocb *const list[] = {&one};
  struct aiocb64 large = {.aio_fildes = file, .aio_buf = data, .aio_nbytes = 30};
  const struct aiocb64 *const wait_for_large[] = {&large};
  struct aiocb64 *const large_list[] = {&large};

  aio_write(&one), aio_suspend(wait_for, 1, NULL), aio_return(&one), put(20);
  aio_fsync(O_SYNC, &one), aio_suspend(wait_for, 1, NULL), aio_return(&one);
  aio_write64(&large), aio_suspend64(wait_for_large, 1, NULL), aio_return64(&large), put(30);
  aio_fsync64(O_DSYNC, &large), aio_suspend64(wait_for_large, 1, NULL), aio_return64(&large);
  one.aio_nbytes = 40;
  aio_read(&one), aio_suspend(wait_for, 1, NULL), aio_return(&one), got(30);
  aio_read64(&large), aio_suspend64(wait_for_large, 1, NULL), aio_return64(&large), got(30);
  one.aio_lio_opcode = LIO_READ;
  lio_listio(LIO_WAIT, list, 1, NULL), aio_return(&one), got(30);
  large.aio_lio_opcode = LIO_WRITE;
  lio_listio64(LIO_WAIT, large_list, 1, NULL), aio_return64(&large), put(30);
  close(file), closed();
  unlink(path);
}

static int print_with_list(int checked, FILE *stream, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = 0;
  if (stream != NULL) {
    length = checked ? __vfprintf_chk(stream, 1, format, arguments) : vfprintf(stream, format, arguments);
  } else {
    length = checked ? __vprintf_chk(1, format, arguments) : vprintf(format, arguments);
  }
  va_end(arguments);
  return length;
}

static int scan_with_list(int of_c99, FILE *stream, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = 0;
  if (stream != NULL) {
    fields = of_c99 ? vfscanf_of_c99(stream, format, arguments) : vfscanf_of_c89(stream, format, arguments);
  } else {
    fields = of_c99 ? vscanf_of_c99(format, arguments) : vscanf_of_c89(format, arguments);
  }
  va_end(arguments);
  return fields;
}

/* The compiler would replace some of these functions by others. */
static void characters_and_numbers(const char *path) {
  static int (*const putters[])(int, FILE *) = {fputc, putc, fputc_unlocked, putc_unlocked};
  static int (*const getters[])(FILE *) = {fgetc, getc, fgetc_unlocked, getc_unlocked};
  int (*volatile putting)(int, FILE *);
  int (*volatile getting)(FILE *);
  int (*volatile getting_from_stdin)(void);
  int number;

  FILE *stream = fopen(path, "w+");
  opened();
  for (int i = 0; i < 4; ++i) putting = putters[i], putting('c', stream), put_character();
  putw(1234, stream), put(INT);
  fputs("12 345 6 78 9", stream), put(13);
  rewind(stream);
  for (int i = 0; i < 4; ++i) getting = getters[i], getting(stream), got_character();
  getw(stream), got(INT);
  fscanf_of_c89(stream, "%d", &number), got(2);
  fscanf_of_c99(stream, "%d", &number), got(4);
  scan_with_list(0, stream, "%d", &number), got(2);
  scan_with_list(1, stream, "%d ", &number), got(4);
  fgetc(stream), got_character();
  fgetc(stream);                     /* nothing left: calls that failed */
  fscanf(stream, "%d", &number);
  fclose(stream), closed();

  /* Standard input as a regular file, and back. */
  const int before = dup(STDIN_FILENO);
  const int file = open(path, O_RDONLY);
  opened();
  lseek(file, 4 + INT, SEEK_SET);
  dup2(file, STDIN_FILENO), opened();
  close(file), closed();
  scanf_of_c89("%d", &number), got(2);
  scanf_of_c99("%d", &number), got(4);
  scan_with_list(0, NULL, "%d", &number), got(2);
  scan_with_list(1, NULL, "%d", &number), got(3);
  getting_from_stdin = getchar, getting_from_stdin(), got_character();
  getting_from_stdin = getchar_unlocked, getting_from_stdin(), got_character();
  dup2(before, STDIN_FILENO), closed();
  close(before);
  unlink(path);
}

static void stdio(void) {
  char path[4096], text[256] = "a line that is read and written\n"; /* 32 bytes */
  const int line = (int)strlen(text);
  char *grown = NULL;
  size_t grown_size = 0;
  FILE *stream;
  snprintf(path, sizeof path, "%s/every_call.%d.stdio", directory, rank);

  stream = fopen(path, "w"), opened();
  fwrite(text, 4, 5, stream), put(20);
  fwrite(text, 1, (size_t)(12 + rank), stream), put(12 + rank);
  fputs(text, stream), put(line);
  fprintf(stream, "%d and %s", 1234, text), put(4 + 5 + line);
  __fprintf_chk(stream, 1, "%d and %s", 1234, text), put(4 + 5 + line);
  print_with_list(0, stream, "%05d %s", 7, text), put(6 + line);
  print_with_list(1, stream, "%05d %s", 7, text), put(6 + line);
  fwrite_unlocked(text, 2, 7, stream), put(14);
  fputs_unlocked(text, stream), put(line);
  fflush(stream);
  fflush_unlocked(stream);
  fclose(stream), closed();
  pclose(popen("exit", "r"));

  stream = fopen64(path, "r"), opened();
  fread(text, 4, 5, stream), got(20);
  __fread_chk(text, sizeof text, 1, (size_t)(12 + rank), stream), got(12 + rank);
  fgets(text, sizeof text, stream), got(line);
  __fgets_chk(text, sizeof text, sizeof text, stream), got(9 + line);
  getline(&grown, &grown_size, stream), got(9 + line);
  getdelim(&grown, &grown_size, '\n', stream), got(6 + line);
  __getdelim(&grown, &grown_size, '\n', stream), got(6 + line);
  fread_unlocked(text, 2, 7, stream), got(14);
  __fgets_unlocked_chk(text, sizeof text, 11, stream), got(10);
  __fread_unlocked_chk(text, sizeof text, 1, 10, stream), got(10);
  fgets_unlocked(text, sizeof text, stream), got(line - 20);
  fread(text, 1, 10, stream), got(0);
  fwrite(text, 1, 10, stream); /* opened for reading: a call that failed */
  fgets(text, sizeof text, stream); /* no line left: a call that failed */
  free(grown);
  stream = freopen(path, "w", stream), opened(), closed();
  stream = freopen64(path, "w", stream), opened(), closed();
  fclose(stream), closed();

  stream = fdopen((opened(), open(path, O_WRONLY)), "w");
  fputs("through a descriptor", stream), put(20);
  fclose(stream), closed();
  unlink(path);

  characters_and_numbers(path);

  /* Standard output as a regular file, and back. */
  fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  const int file = open(path, O_CREAT | O_WRONLY, 0600);
  opened();
  dup2(file, STDOUT_FILENO), opened();
  close(file), closed();
  printf("%s of %d ranks\n", "rank", 4), put(16);
  __printf_chk(1, "%s of %d ranks\n", "rank", 4), put(16);
  print_with_list(0, NULL, "%s of %d ranks\n", "rank", 4), put(16);
  print_with_list(1, NULL, "%s of %d ranks\n", "rank", 4), put(16);
  puts("fifteen letters"), put(16);
  int (*volatile putting)(int);
  putting = putchar, putting('a'), put_character();
  putting = putchar_unlocked, putting('b'), put_character();
  fflush(stdout);
  dup2(before, STDOUT_FILENO), closed();
  close(before);
  unlink(path);
}

static void write_account(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/expected.%d.json", directory, rank);
  FILE *account = fopen(path, "w");
  if (account == NULL) {
    perror(path);
    exit(1);
  }
  fprintf(account, "{\n  \"boundaries\": %d", segment);
  for (int total = 0; total < TOTALS; ++total) {
    long long sum = 0;
    for (int i = 0; i <= segment; ++i) sum += expected[i][total];
    fprintf(account, ",\n  \"%s\": %lld", total_names[total], sum);
  }
  fprintf(account, ",\n  \"segments\": {");
  for (int total = 0; total < TOTALS; ++total) {
    fprintf(account, "%s\n    \"%s\": [", total == 0 ? "" : ",", total_names[total]);
    for (int i = 0; i <= segment; ++i) fprintf(account, "%s%lld", i == 0 ? "" : ", ", expected[i][total]);
    fprintf(account, "]");
  }
  fprintf(account, "\n  }\n}\n");
  fclose(account);
}

int main(int argc, char **argv) {
  enum { ROOM = 1 << 16 };
  static char room[ROOM];
  void *attached;
  Count size;
  MPI_Init(&argc, &argv);
  if (argc > 1) directory = argv[1];
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;
  if (ranks < 2) {
    fprintf(stderr, "every_call: needs two ranks or more\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Type_vector(3, 1, 5, MPI_DOUBLE, &gappy);
  MPI_Type_commit(&gappy);
  MPI_Buffer_attach(room, ROOM);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL); /* as for everything else */

  blocking_point_to_point();
  nonblocking_point_to_point();
  persistent_point_to_point();
  sends_and_receives_of_mpi_4();
  completions_of_mpi_4_1();
  barrier();
  communicators();
  overlapping_boundaries();
  rooted_pairs();
  intercommunicator_collectives();
  topologies();
  barrier();
  one_sided_communication();
  barrier();
  mpi_io();
  barrier();
  posix_io();
  temporary_files();
  asynchronous_io();
  stdio();

  MPI_Buffer_detach(&attached, &size);
  MPI_Type_free(&gappy);
  MPI_Comm_free(&world);
  MPI_Finalize();
  write_account();
  return 0;
}
