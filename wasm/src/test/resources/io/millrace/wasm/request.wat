;; A filter for requests. The first letter of the path chooses what it does; other paths get a field.
(module
  (import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_add_header_map_value" (func $add (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_replace_header_map_value" (func $replace (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_remove_header_map_value" (func $remove (param i32 i32 i32) (result i32)))
  (import "env" "proxy_send_local_response" (func $answer (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))
  (import "env" "proxy_http_call"
    (func $call (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (global $heap (mut i32) (i32.const 4096))
  (data (i32.const 64) ":path")
  (data (i32.const 80) "x-wasm")
  (data (i32.const 96) "hello")
  (data (i32.const 112) "denied by the module")
  ;; One field: x-reason: path.
  (data (i32.const 144) "\01\00\00\00\08\00\00\00\04\00\00\00x-reason\00path\00")
  (data (i32.const 192) "x-status")
  (data (i32.const 208) "0")
  (data (i32.const 224) "x-remove")
  (data (i32.const 240) "content-length")
  (data (i32.const 256) ":authority")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param $bytes i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $heap))
    (global.set $heap (i32.add (global.get $heap) (i32.and (i32.add (local.get $bytes) (i32.const 15)) (i32.const -16))))
    (local.get $at))
  (func (export "proxy_on_context_create") (param i32 i32) (global.set $heap (i32.const 4096)))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32) (i32.const 1))
  (func (export "proxy_on_configure") (param i32 i32) (result i32) (i32.const 1))
  ;; Adds x-status with a status of one or two digits.
  (func $status (param $status i32)
    (if (i32.lt_u (local.get $status) (i32.const 10))
      (then
        (i32.store8 (i32.const 208) (i32.add (i32.const 48) (local.get $status)))
        (drop (call $add (i32.const 0) (i32.const 192) (i32.const 8) (i32.const 208) (i32.const 1))))
      (else
        (i32.store8 (i32.const 208) (i32.add (i32.const 48) (i32.div_u (local.get $status) (i32.const 10))))
        (i32.store8 (i32.const 209) (i32.add (i32.const 48) (i32.rem_u (local.get $status) (i32.const 10))))
        (drop (call $add (i32.const 0) (i32.const 192) (i32.const 8) (i32.const 208) (i32.const 2))))))
  (func $recurse (param i32) (result i32)
    (i32.add (i32.const 1) (call $recurse (i32.add (local.get 0) (i32.const 1)))))
  (func (export "proxy_on_request_headers") (param $context i32) (param $lines i32) (param $end i32) (result i32)
    (local $letter i32)
    (drop (call $get (i32.const 0) (i32.const 64) (i32.const 5) (i32.const 16) (i32.const 20)))
    (local.set $letter (i32.load8_u (i32.add (i32.load (i32.const 16)) (i32.const 1))))
    ;; d: deny
    (if (i32.eq (local.get $letter) (i32.const 100))
      (then
        (drop (call $answer (i32.const 403) (i32.const 0) (i32.const 0)
          (i32.const 112) (i32.const 20) (i32.const 144) (i32.const 26) (i32.const -1)))
        (return (i32.const 1))))
    ;; l: loop
    (if (i32.eq (local.get $letter) (i32.const 108)) (then (loop $forever (br $forever))))
    ;; t: trap
    (if (i32.eq (local.get $letter) (i32.const 116)) (then (unreachable)))
    ;; s: stack
    (if (i32.eq (local.get $letter) (i32.const 115)) (then (drop (call $recurse (i32.const 0)))))
    ;; o: outside the memory
    (if (i32.eq (local.get $letter) (i32.const 111)) (then (i32.store (i32.const 0x7ffffff0) (i32.const 1))))
    ;; g: grow; the status is 1 if the memory did not grow
    (if (i32.eq (local.get $letter) (i32.const 103))
      (then
        (call $status (i32.lt_s (memory.grow (i32.const 32)) (i32.const 0)))
        (return (i32.const 0))))
    ;; p: pause
    (if (i32.eq (local.get $letter) (i32.const 112)) (then (return (i32.const 1))))
    ;; c: callout
    (if (i32.eq (local.get $letter) (i32.const 99))
      (then
        (call $status (call $call (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
          (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000) (i32.const 16)))
        (return (i32.const 0))))
    ;; m: an address outside the memory for a host function
    (if (i32.eq (local.get $letter) (i32.const 109))
      (then
        (call $status (call $log (i32.const 2) (i32.const 0) (i32.const -1)))
        (return (i32.const 0))))
    ;; h: a pseudo field cannot be changed
    (if (i32.eq (local.get $letter) (i32.const 104))
      (then
        (call $status (call $replace (i32.const 0) (i32.const 256) (i32.const 10) (i32.const 96) (i32.const 5)))
        (return (i32.const 0))))
    ;; others: a field is added, one is removed, and one that the proxy writes itself is left
    (drop (call $add (i32.const 0) (i32.const 80) (i32.const 6) (i32.const 96) (i32.const 5)))
    (drop (call $remove (i32.const 0) (i32.const 224) (i32.const 8)))
    (drop (call $replace (i32.const 0) (i32.const 240) (i32.const 14) (i32.const 96) (i32.const 5)))
    (i32.const 0)))
