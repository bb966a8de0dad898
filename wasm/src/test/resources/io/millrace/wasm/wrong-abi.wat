;; A module for an older ABI.
(module
  (memory (export "memory") 1)
  (func (export "proxy_abi_version_0_1_0"))
  (func (export "malloc") (param i32) (result i32) (i32.const 0)))
