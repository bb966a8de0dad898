;; A module whose start traps.
(module
  (memory (export "memory") 1)
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param i32) (result i32) (i32.const 0))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32) (unreachable))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32) (i32.const 0)))
