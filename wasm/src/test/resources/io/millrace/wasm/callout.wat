;; A filter that asks an upstream about each request. The first letter of the path chooses what it does:
;; s: several calls at once, and the request continues after the last one. p: a pause without a call. f: a call without a
;; pause. u: an unknown upstream. m: no :path in the call. t: a trap in the callback for the result. x: a trap at once.
;; n: twenty calls. l: a loop in the callback for the result. o: an answer without waiting for the call.
;; z: a pause without a call, which counts as a tick; its end resumes the request before it.
;; Others: one call. The request continues with the fields x-wasm (body) and x-status (status of the
;; response), or is answered with 403 if the status is 403, or with 502 if the call has failed.
(module
  (import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_add_header_map_value" (func $add (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_send_local_response" (func $answer (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_buffer_bytes" (func $buffer (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_set_effective_context" (func $enter (param i32) (result i32)))
  (import "env" "proxy_continue_stream" (func $continue (param i32) (result i32)))
  (import "env" "proxy_set_tick_period_milliseconds" (func $period (param i32) (result i32)))
  (import "env" "proxy_define_metric" (func $define (param i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_increment_metric" (func $increment (param i32 i64) (result i32)))
  (import "env" "proxy_http_call"
    (func $call (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (global $heap (mut i32) (i32.const 32768))
  (global $length (mut i32) (i32.const 0))
  (global $answered (mut i32) (i32.const 0))
  (global $ticked (mut i32) (i32.const 0))
  (global $ended (mut i32) (i32.const 0))
  (data (i32.const 64) ":path")
  (data (i32.const 80) "x-wasm")
  (data (i32.const 96) "x-status")
  (data (i32.const 112) ":status")
  (data (i32.const 128) "auth")
  (data (i32.const 136) "none")
  (data (i32.const 144) "denied by the service")
  (data (i32.const 176) "the service has failed")
  (data (i32.const 208) "answered")
  (data (i32.const 224) "ticked")
  (data (i32.const 232) "ended")
  (data (i32.const 240) "0")
  (data (i32.const 248) "ask")
  ;; The fields of a call behind the path: lengths and texts are written by $ask.
  ;; 1024: number of fields, lengths, then texts.
  (data (i32.const 512) ":method\00POST\00:authority\00auth.test\00x-key\00secret\00:path\00")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param $bytes i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $heap))
    (global.set $heap (i32.add (global.get $heap) (i32.and (i32.add (local.get $bytes) (i32.const 15)) (i32.const -16))))
    (local.get $at))
  ;; Callbacks do not keep memory, except for the table of contexts at 4096.
  (func $reset (global.set $heap (i32.const 32768)))
  (func (export "proxy_on_configure") (param i32 i32) (result i32)
    (drop (call $define (i32.const 0) (i32.const 208) (i32.const 8) (i32.const 32)))
    (global.set $answered (i32.load (i32.const 32)))
    (drop (call $define (i32.const 0) (i32.const 224) (i32.const 6) (i32.const 32)))
    (global.set $ticked (i32.load (i32.const 32)))
    (drop (call $define (i32.const 0) (i32.const 232) (i32.const 5) (i32.const 32)))
    (global.set $ended (i32.load (i32.const 32)))
    ;; A configuration that begins with "t" sets a timer.
    (drop (call $buffer (i32.const 7) (i32.const 0) (i32.const 1) (i32.const 16) (i32.const 20)))
    (if (i32.load (i32.const 20))
      (then
        (if (i32.eq (i32.load8_u (i32.load (i32.const 16))) (i32.const 116))
          (then (drop (call $period (i32.const 100)))))))
    (call $reset)
    (i32.const 1))
  ;; Writes the fields of a call with a path, and sends it. Returns the status; the number of the call is at 28.
  (func $ask (param $path i32) (param $bytes i32) (param $name i32) (param $fields i32) (param $millis i32) (result i32)
    (i32.store (i32.const 1024) (local.get $fields))
    (i32.store (i32.const 1028) (i32.const 7))
    (i32.store (i32.const 1032) (i32.const 4))
    (i32.store (i32.const 1036) (i32.const 10))
    (i32.store (i32.const 1040) (i32.const 9))
    (i32.store (i32.const 1044) (i32.const 5))
    (i32.store (i32.const 1048) (i32.const 6))
    ;; Three fields have no :path.
    (if (i32.eq (local.get $fields) (i32.const 3))
      (then
        (memory.copy (i32.const 1052) (i32.const 512) (i32.const 47))
        (global.set $length (i32.const 75)))
      (else
        (i32.store (i32.const 1052) (i32.const 5))
        (i32.store (i32.const 1056) (local.get $bytes))
        (memory.copy (i32.const 1060) (i32.const 512) (i32.const 53))
        (memory.copy (i32.const 1113) (local.get $path) (local.get $bytes))
        (i32.store8 (i32.add (i32.const 1113) (local.get $bytes)) (i32.const 0))
        (global.set $length (i32.add (i32.const 90) (local.get $bytes)))))
    (call $call (local.get $name) (i32.const 4) (i32.const 1024) (global.get $length)
      (i32.const 248) (i32.const 3) (i32.const 0) (i32.const 0) (local.get $millis) (i32.const 28)))
  ;; Each context has 8 bytes: the open calls, and the letter. The number of a call leads to its context.
  (func $context (param $number i32) (result i32)
    (i32.add (i32.const 4096) (i32.shl (i32.and (local.get $number) (i32.const 1023)) (i32.const 3))))
  (func $owner (param $call i32) (result i32)
    (i32.add (i32.const 16384) (i32.shl (i32.and (local.get $call) (i32.const 2047)) (i32.const 2))))
  (func $status (param $status i32)
    (i32.store8 (i32.const 240) (i32.add (i32.const 48) (local.get $status)))
    (drop (call $add (i32.const 0) (i32.const 96) (i32.const 8) (i32.const 240) (i32.const 1))))
  (func (export "proxy_on_request_headers") (param $context i32) (param i32 i32) (result i32)
    (local $path i32) (local $bytes i32) (local $letter i32) (local $left i32) (local $status i32)
    (drop (call $get (i32.const 0) (i32.const 64) (i32.const 5) (i32.const 16) (i32.const 20)))
    (local.set $path (i32.load (i32.const 16)))
    (local.set $bytes (i32.load (i32.const 20)))
    (local.set $letter (i32.load8_u (i32.add (local.get $path) (i32.const 1))))
    (i32.store (i32.add (call $context (local.get $context)) (i32.const 4)) (local.get $letter))
    (call $reset)
    ;; p: pause
    (if (i32.eq (local.get $letter) (i32.const 112)) (then (return (i32.const 1))))
    ;; z: count and pause
    (if (i32.eq (local.get $letter) (i32.const 122))
      (then
        (drop (call $increment (global.get $ticked) (i64.const 1)))
        (return (i32.const 1))))
    ;; x: trap
    (if (i32.eq (local.get $letter) (i32.const 120)) (then (unreachable)))
    ;; u: unknown upstream
    (if (i32.eq (local.get $letter) (i32.const 117))
      (then
        (call $status (call $ask (local.get $path) (local.get $bytes) (i32.const 136) (i32.const 4) (i32.const 1000)))
        (return (i32.const 0))))
    ;; m: no path
    (if (i32.eq (local.get $letter) (i32.const 109))
      (then
        (call $status (call $ask (local.get $path) (local.get $bytes) (i32.const 128) (i32.const 3) (i32.const 1000)))
        (return (i32.const 0))))
    (local.set $left (i32.const 1))
    (if (i32.eq (local.get $letter) (i32.const 115)) (then (local.set $left (i32.const 3))))
    (if (i32.eq (local.get $letter) (i32.const 110)) (then (local.set $left (i32.const 20))))
    (i32.store (call $context (local.get $context)) (local.get $left))
    (loop $more
      (local.set $status (call $ask (local.get $path) (local.get $bytes) (i32.const 128) (i32.const 4)
        ;; w: a timeout of 200 ms; others leave it to the host
        (select (i32.const 200) (i32.const 0) (i32.eq (local.get $letter) (i32.const 119)))))
      (if (local.get $status)
        (then
          (call $status (local.get $status))
          (return (i32.const 0))))
      (i32.store (call $owner (i32.load (i32.const 28))) (local.get $context))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $more (local.get $left)))
    ;; o: an answer
    (if (i32.eq (local.get $letter) (i32.const 111))
      (then
        (drop (call $answer (i32.const 403) (i32.const 0) (i32.const 0)
          (i32.const 144) (i32.const 21) (i32.const 0) (i32.const 0) (i32.const -1)))))
    ;; f: continue
    (i32.ne (local.get $letter) (i32.const 102)))
  (func (export "proxy_on_http_call_response")
    (param $root i32) (param $call i32) (param $fields i32) (param $bytes i32) (param $trailers i32)
    (local $context i32) (local $at i32) (local $letter i32)
    (drop (call $increment (global.get $answered) (i64.const 1)))
    (local.set $context (i32.load (call $owner (local.get $call))))
    (local.set $at (call $context (local.get $context)))
    (local.set $letter (i32.load (i32.add (local.get $at) (i32.const 4))))
    (if (i32.eq (local.get $letter) (i32.const 116)) (then (unreachable)))
    (if (i32.eq (local.get $letter) (i32.const 108)) (then (loop $forever (br $forever))))
    (call $reset)
    (if (call $enter (local.get $context)) (then (return)))
    (i32.store (local.get $at) (i32.sub (i32.load (local.get $at)) (i32.const 1)))
    (if (i32.load (local.get $at)) (then (return)))
    (if (i32.eqz (local.get $fields))
      (then
        (drop (call $answer (i32.const 502) (i32.const 0) (i32.const 0)
          (i32.const 176) (i32.const 22) (i32.const 0) (i32.const 0) (i32.const -1)))
        (return)))
    (drop (call $get (i32.const 6) (i32.const 112) (i32.const 7) (i32.const 16) (i32.const 20)))
    ;; Status 40x
    (if (i32.eq (i32.load8_u (i32.load (i32.const 16))) (i32.const 52))
      (then
        (drop (call $answer (i32.const 403) (i32.const 0) (i32.const 0)
          (i32.const 144) (i32.const 21) (i32.const 0) (i32.const 0) (i32.const -1)))
        (return)))
    (drop (call $add (i32.const 0) (i32.const 96) (i32.const 8) (i32.load (i32.const 16)) (i32.load (i32.const 20))))
    (drop (call $buffer (i32.const 4) (i32.const 0) (i32.const 100) (i32.const 16) (i32.const 20)))
    (drop (call $add (i32.const 0) (i32.const 80) (i32.const 6) (i32.load (i32.const 16)) (i32.load (i32.const 20))))
    (drop (call $continue (i32.const 0))))
  (func (export "proxy_on_done") (param $context i32) (result i32)
    (drop (call $increment (global.get $ended) (i64.const 1)))
    (if (i32.eq (i32.load (i32.add (call $context (local.get $context)) (i32.const 4))) (i32.const 122))
      (then
        (if (i32.eqz (call $enter (i32.sub (local.get $context) (i32.const 1))))
          (then (drop (call $continue (i32.const 0)))))))
    (i32.const 1))
  (func (export "proxy_on_tick") (param i32)
    (drop (call $increment (global.get $ticked) (i64.const 1)))
    ;; The path is /k.
    (i32.store8 (i32.const 300) (i32.const 47))
    (i32.store8 (i32.const 301) (i32.const 107))
    (if (i32.eqz (call $ask (i32.const 300) (i32.const 2) (i32.const 128) (i32.const 4) (i32.const 0)))
      (then (i32.store (call $owner (i32.load (i32.const 28))) (i32.const 0))))))
