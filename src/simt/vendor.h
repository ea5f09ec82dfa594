// Whose launch plans the files of ops/<op>/nvidia/ are: OPRT_VENDOR is a namespace's name, OPRT_VENDOR_IMPLEMENTATIONS that of the
// function that the build's table calls. An emulation build compiles them twice, at 32 lanes for nvidia and at 64 for metax.
#pragma once

#if defined(OPRT_EMULATION) && OPRT_WARP_SIZE == 64
#define OPRT_VENDOR metax
#define OPRT_VENDOR_IMPLEMENTATIONS metax_implementations
#else
#define OPRT_VENDOR nvidia
#define OPRT_VENDOR_IMPLEMENTATIONS nvidia_implementations
#endif
