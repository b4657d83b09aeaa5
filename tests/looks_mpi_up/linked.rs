// Calls MPI as Rust's rsmpi does: by declarations of its functions, which are linked.
use std::os::raw::{c_char, c_int, c_void};

#[link(name = "mpi")]
extern "C" {
    static ompi_mpi_comm_world: c_char;
    fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int;
    fn MPI_Barrier(comm: *const c_void) -> c_int;
    fn MPI_Finalize() -> c_int;
}

fn main() {
    unsafe {
        let world = &ompi_mpi_comm_world as *const c_char as *const c_void;
        MPI_Init(std::ptr::null_mut(), std::ptr::null_mut());
        for _ in 0..50 {
            MPI_Barrier(world);
        }
        MPI_Finalize();
    }
}
