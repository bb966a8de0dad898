;; A module with an import that no host has.
(module
  (import "env" "launch" (func (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param i32) (result i32) (i32.const 0)))
