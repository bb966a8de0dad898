;; A filter for the contents of responses. The field x-mode of the response chooses what it does:
;; r: hold back, and replace the whole at the end. e: hold back, and write the whole twice. h: hold back, change nothing.
;; p: prepend to each piece. a: append at the end. m: replace the second byte of each piece. d: remove each piece.
;; s: append a property of the callback for the fields. f: append the field x-mode. g: write more than is allowed.
;; x: change the first piece, hold back the others. t: trap at the end. l: a loop at the end.
;; c: hold back, and ask an upstream at the end. n: pause the end without a call. q: ask an upstream at the first piece.
(module
  (import "env" "proxy_get_buffer_bytes" (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_set_buffer_bytes" (func $set (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_header_map_value" (func $field (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_add_header_map_value" (func $add (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_property" (func $property (param i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_set_property" (func $set_property (param i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_set_effective_context" (func $enter (param i32) (result i32)))
  (import "env" "proxy_continue_stream" (func $continue (param i32) (result i32)))
  (import "env" "proxy_define_metric" (func $define (param i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_increment_metric" (func $increment (param i32 i64) (result i32)))
  (import "env" "proxy_http_call"
    (func $call (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 64)
  (global $heap (mut i32) (i32.const 65536))
  (global $context (mut i32) (i32.const 0))
  (global $ended (mut i32) (i32.const 0))
  (global $pieces (mut i32) (i32.const 0))
  (global $answered (mut i32) (i32.const 0))
  (data (i32.const 64) "x-mode")
  (data (i32.const 80) "note")
  (data (i32.const 96) "kept")
  (data (i32.const 112) "x-fields")
  (data (i32.const 128) "replaced")
  (data (i32.const 144) "auth")
  (data (i32.const 160) "called")
  (data (i32.const 176) "ended")
  (data (i32.const 192) "pieces")
  (data (i32.const 200) "answered")
  (data (i32.const 210) "<")
  (data (i32.const 216) ">")
  (data (i32.const 224) "[..]")
  ;; The fields of a call: their number, the lengths, then the texts.
  (data (i32.const 512) "\03\00\00\00\07\00\00\00\03\00\00\00\05\00\00\00\07\00\00\00\0a\00\00\00\09\00\00\00")
  (data (i32.const 540) ":method\00GET\00:path\00/answer\00:authority\00auth.test\00")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param $bytes i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $heap))
    (global.set $heap (i32.add (global.get $heap) (i32.and (i32.add (local.get $bytes) (i32.const 15)) (i32.const -16))))
    (local.get $at))
  (func (export "proxy_on_configure") (param i32 i32) (result i32)
    (drop (call $define (i32.const 0) (i32.const 176) (i32.const 5) (i32.const 32)))
    (global.set $ended (i32.load (i32.const 32)))
    (drop (call $define (i32.const 0) (i32.const 192) (i32.const 6) (i32.const 32)))
    (global.set $pieces (i32.load (i32.const 32)))
    (drop (call $define (i32.const 0) (i32.const 200) (i32.const 8) (i32.const 32)))
    (global.set $answered (i32.load (i32.const 32)))
    (i32.const 1))
  (func (export "proxy_on_done") (param i32) (result i32)
    (drop (call $increment (global.get $ended) (i64.const 1)))
    (i32.const 1))
  (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
    (drop (call $set_property (i32.const 80) (i32.const 4) (i32.const 96) (i32.const 4)))
    (drop (call $add (i32.const 2) (i32.const 112) (i32.const 8) (i32.const 96) (i32.const 4)))
    (i32.const 0))
  ;; Sends a call, whose result resumes the context.
  (func $ask (param $number i32)
    (global.set $context (local.get $number))
    (drop (call $call (i32.const 144) (i32.const 4) (i32.const 512) (i32.const 75)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000) (i32.const 28))))
  (func (export "proxy_on_http_call_response") (param i32 i32 i32 i32 i32)
    (drop (call $enter (global.get $context)))
    (drop (call $set (i32.const 1) (i32.const 0x7fffffff) (i32.const 0) (i32.const 160) (i32.const 6)))
    (drop (call $continue (i32.const 1)))
    (drop (call $increment (global.get $answered) (i64.const 1))))
  (func $is (param $letter i32) (result i32)
    (i32.eq (i32.load8_u (i32.load (i32.const 16))) (local.get $letter)))
  (func (export "proxy_on_response_body") (param $number i32) (param $bytes i32) (param $end i32) (result i32)
    (global.set $heap (i32.const 65536))
    (drop (call $increment (global.get $pieces) (i64.const 1)))
    (if (call $field (i32.const 2) (i32.const 64) (i32.const 6) (i32.const 16) (i32.const 20))
      (then (return (i32.const 0))))
    ;; p: prepend
    (if (call $is (i32.const 112))
      (then (drop (call $set (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 210) (i32.const 1)))))
    ;; m: replace a part
    (if (i32.and (call $is (i32.const 109)) (i32.gt_u (local.get $bytes) (i32.const 1)))
      (then (drop (call $set (i32.const 1) (i32.const 1) (i32.const 1) (i32.const 224) (i32.const 4)))))
    ;; d: remove
    (if (call $is (i32.const 100))
      (then (drop (call $set (i32.const 1) (i32.const 0) (local.get $bytes) (i32.const 0) (i32.const 0)))))
    ;; x: change the first piece, then hold back
    (if (call $is (i32.const 120))
      (then
        (if (i32.eqz (i32.load (i32.const 40)))
          (then
            (i32.store (i32.const 40) (i32.const 1))
            (drop (call $set (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 210) (i32.const 1)))
            (return (i32.const 0))))
        (return (i32.const 1))))
    ;; q: ask at the first piece, and hold back until the result
    (if (call $is (i32.const 113))
      (then
        (if (i32.eqz (i32.load (i32.const 44)))
          (then
            (i32.store (i32.const 44) (i32.const 1))
            (call $ask (local.get $number))
            (return (i32.const 1))))
        (return (i32.const 0))))
    (if (i32.eqz (local.get $end))
      (then
        ;; r, e, h, c, g, t, l hold back
        (return (i32.or (i32.or (i32.or (call $is (i32.const 114)) (call $is (i32.const 101)))
                                (i32.or (call $is (i32.const 104)) (call $is (i32.const 99))))
                        (i32.or (call $is (i32.const 103)) (call $is (i32.const 116)))))))
    ;; r: replace
    (if (call $is (i32.const 114))
      (then (drop (call $set (i32.const 1) (i32.const 0) (local.get $bytes) (i32.const 128) (i32.const 8)))))
    ;; e: read all, and append it
    (if (call $is (i32.const 101))
      (then
        (drop (call $get (i32.const 1) (i32.const 0) (local.get $bytes) (i32.const 24) (i32.const 28)))
        (drop (call $set (i32.const 1) (local.get $bytes) (i32.const 0) (i32.load (i32.const 24)) (i32.load (i32.const 28))))))
    ;; a: append
    (if (call $is (i32.const 97))
      (then (drop (call $set (i32.const 1) (i32.const 0x7fffffff) (i32.const 0) (i32.const 216) (i32.const 1)))))
    ;; s: append the property
    (if (call $is (i32.const 115))
      (then
        (drop (call $property (i32.const 80) (i32.const 4) (i32.const 24) (i32.const 28)))
        (drop (call $set (i32.const 1) (local.get $bytes) (i32.const 0) (i32.load (i32.const 24)) (i32.load (i32.const 28))))))
    ;; f: append the field
    (if (call $is (i32.const 102))
      (then
        (drop (call $set (i32.const 1) (local.get $bytes) (i32.const 0) (i32.load (i32.const 16)) (i32.load (i32.const 20))))))
    ;; g: two MiB are refused, and the status becomes the content
    (if (call $is (i32.const 103))
      (then
        (i32.store8 (i32.const 48) (i32.add (i32.const 64)
          (call $set (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 65536) (i32.const 2097152))))
        (drop (call $set (i32.const 1) (i32.const 0) (local.get $bytes) (i32.const 48) (i32.const 1)))))
    ;; t: trap
    (if (call $is (i32.const 116)) (then (unreachable)))
    ;; l: loop
    (if (call $is (i32.const 108)) (then (loop $forever (br $forever))))
    ;; c: ask, and pause
    (if (call $is (i32.const 99))
      (then
        (call $ask (local.get $number))
        (return (i32.const 1))))
    ;; n: pause
    (call $is (i32.const 110))))
