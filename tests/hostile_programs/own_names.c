// A library whose own functions have names of libc's, and other arguments and results: preloaded behind the recorder,
// it is one that the program is linked with. At the end it tells what they return.
#include <stdio.h>

long kill(double* values, int count, double factor, long a, long b, long c) {
  for (int i = 0; i < count; ++i) values[i] *= factor;
  return a + b + c;
}
double raise(double base, int exponent) {
  double power = 1.0;
  while (exponent-- > 0) power *= base;
  return power;
}
struct Eight {
  long at[8];
};
struct Eight signal(long first) {  // is returned through memory, whose address is the first argument
  struct Eight numbers;
  for (long i = 0; i < 8; ++i) numbers.at[i] = first + i;
  return numbers;
}
long execl(long a, long b, long c, long d, long e, long f, long on_the_stack, double g) {
  return a + b + c + d + e + f + on_the_stack + (long)g;
}

__attribute__((destructor)) static void tell(void) {
  double values[3] = {1.0, 2.0, 3.0};
  const long sum = kill(values, 3, 0.5, 5, 6, 7);
  printf("kill %ld %g, raise %g, signal %ld, execl %ld\n", sum, values[2], raise(2.0, 10), signal(40).at[2],
         execl(1, 2, 3, 4, 5, 6, 7, 8.0));
}
