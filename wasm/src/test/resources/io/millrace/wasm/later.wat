;; A later version of request.wat, for reloads: it adds the field with another value.
(module
  (import "env" "proxy_add_header_map_value" (func $add (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 80) "x-wasm")
  (data (i32.const 96) "later")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param i32) (result i32) (i32.const 4096))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (drop (call $add (i32.const 0) (i32.const 80) (i32.const 6) (i32.const 96) (i32.const 5)))
    (i32.const 0)))
