! The same calls in the same order as halo.c, in Fortran with `use mpi_f08`.
! The optional error arguments are left out, as is usual in this style.
program halo_f08
  use mpi_f08
  implicit none
  integer, parameter :: cells = 1024, strip_cells = 16
  double precision, asynchronous :: rod(0:cells + 1), change(1), change_left(1), heat(1), total(1)
  double precision :: next(0:cells + 1), strip(strip_cells), largest(1), limit(1)
  integer :: steps, step, i, rank, ranks, before, after, left, right
  type(MPI_Request) :: exchange(4), neighbours(2), reduction
  type(MPI_File) :: file
  integer(kind=MPI_OFFSET_KIND) :: place
  character(len=4096) :: argument, file_name

  steps = 100
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) steps
  end if
  file_name = 'halo.dat'
  if (command_argument_count() > 1) call get_command_argument(2, file_name)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  before = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  after = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  place = int(rank, MPI_OFFSET_KIND) * cells * 8

  rod = 0.0d0
  next = 0.0d0
  if (rank == 0) rod(1) = 1000.0d0
  limit = 0.25d0
  call MPI_Recv_init(change_left, 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, neighbours(1))
  call MPI_Send_init(change, 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, neighbours(2))

  do step = 1, steps
    call MPI_Irecv(rod(0:0), 1, MPI_DOUBLE_PRECISION, before, 2, MPI_COMM_WORLD, exchange(1))
    call MPI_Irecv(rod(cells + 1:cells + 1), 1, MPI_DOUBLE_PRECISION, after, 3, MPI_COMM_WORLD, exchange(2))
    call MPI_Isend(rod(1:1), 1, MPI_DOUBLE_PRECISION, before, 3, MPI_COMM_WORLD, exchange(3))
    call MPI_Isend(rod(cells:cells), 1, MPI_DOUBLE_PRECISION, after, 2, MPI_COMM_WORLD, exchange(4))
    call MPI_Waitall(4, exchange, MPI_STATUSES_IGNORE)

    change = 0.0d0
    do i = 1, cells
      next(i) = rod(i) + limit(1) * (rod(i - 1) - 2.0d0 * rod(i) + rod(i + 1))
      change(1) = max(change(1), abs(next(i) - rod(i)))
    end do
    rod(1:cells) = next(1:cells)

    call MPI_Startall(2, neighbours)
    call MPI_Waitall(2, neighbours, MPI_STATUSES_IGNORE)
    call MPI_Allreduce(change, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)

    if (mod(step, 5) == 0) then
      heat = sum(rod(1:cells))
      call MPI_Iallreduce(heat, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, reduction)
      call MPI_Wait(reduction, MPI_STATUS_IGNORE)
    end if
    if (mod(step, 10) == 0) then
      call MPI_Sendrecv(rod(1:strip_cells), strip_cells, MPI_DOUBLE_PRECISION, right, 4, strip, strip_cells, &
                        MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Bcast(limit, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
      call MPI_Reduce(heat, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
      call MPI_Barrier(MPI_COMM_WORLD)
    end if
    if (mod(step, 20) == 0) then  ! a checkpoint, read back at once
      call MPI_File_open(MPI_COMM_WORLD, trim(file_name), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file)
      call MPI_File_write_at_all(file, place, rod(1:cells), cells, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
      call MPI_File_read_at_all(file, place, next(1:cells), cells, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
      call MPI_File_close(file)
    end if
  end do

  call MPI_Request_free(neighbours(1))
  call MPI_Request_free(neighbours(2))
  heat = sum(rod(1:cells))
  call MPI_Allreduce(heat, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a, f0.6, a, i0, a)', 'heat ', total(1), ' after ', steps, ' steps'
  call MPI_Finalize()
end program halo_f08
