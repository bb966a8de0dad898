;; A module that needs 32 MiB of memory at its start.
(module
  (memory (export "memory") 512)
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param i32) (result i32) (i32.const 0)))
