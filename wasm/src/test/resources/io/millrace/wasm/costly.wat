;; Callbacks for responses with few instructions that cost much. The status chooses one. It runs 200 times, 211 3000 times.
(module
  (import "env" "proxy_get_property" (func $property (param i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_header_map_size" (func $size (param i32 i32) (result i32)))
  (import "env" "proxy_get_header_map_pairs" (func $pairs (param i32 i32 i32) (result i32)))
  (import "env" "proxy_set_header_map_pairs" (func $set_pairs (param i32 i32 i32) (result i32)))
  (import "env" "proxy_get_header_map_value" (func $value (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_log_level" (func $level (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 48)
  (table $entries 20000 funcref)
  (elem $functions funcref (ref.null func) (ref.null func))
  (data (i32.const 64) "response\00code")
  (data (i32.const 80) "a")
  ;; One field with a value of 60000 bytes.
  (data (i32.const 1024) "\01\00\00\00\01\00\00\00\60\ea\00\00a\00")
  (data $passive "0123456789")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param i32) (result i32) (i32.const 0x100000))
  (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
    (local $code i32)
    (local $i i32)
    (local $times i32)
    (drop (call $property (i32.const 64) (i32.const 13) (i32.const 16) (i32.const 20)))
    (local.set $code (i32.sub (i32.load (i32.load (i32.const 16))) (i32.const 200)))
    (local.set $times (select (i32.const 3000) (i32.const 200) (i32.eq (local.get $code) (i32.const 11))))
    (loop $again
      (block $end
        (block $cpu (block $host (block $get (block $set (block $all (block $length (block $bytes (block $grow
        (block $copies (block $table (block $copy (block $fill (block $cheap
          (br_table $cheap $fill $copy $table $copies $grow $bytes $length $all $set $get $host $cpu
            (local.get $code)))
          ;; 200: little work
          (br $end))
          ;; 201: 1 MiB is filled
          (memory.fill (i32.const 0x100000) (i32.const 1) (i32.const 0x100000)) (br $end))
          ;; 202: 1 MiB is copied
          (memory.copy (i32.const 0x100000) (i32.const 0x200000) (i32.const 0x100000)) (br $end))
          ;; 203: 20000 entries of a table are filled
          (table.fill $entries (i32.const 0) (ref.null func) (i32.const 20000)) (br $end))
          ;; 204: 20000 entries of a table are copied
          (table.copy (i32.const 0) (i32.const 0) (i32.const 20000)) (br $end))
          ;; 205: the memory grows by 64 KiB
          (drop (memory.grow (i32.const 1))) (br $end))
          ;; 206: 1 MiB of random bytes
          (drop (call $random (i32.const 0x100000) (i32.const 0x100000))) (br $end))
          ;; 207: the length of all fields
          (drop (call $size (i32.const 2) (i32.const 16))) (br $end))
          ;; 208: all fields
          (drop (call $pairs (i32.const 2) (i32.const 16) (i32.const 20))) (br $end))
          ;; 209: all fields are replaced
          (drop (call $set_pairs (i32.const 2) (i32.const 1024) (i32.const 60014))) (br $end))
          ;; 210: a field with many lines
          (drop (call $value (i32.const 2) (i32.const 80) (i32.const 1) (i32.const 16) (i32.const 20))) (br $end))
          ;; 211: a host call without a copy
          (drop (call $level (i32.const 16))) (br $end))
          ;; 212: endless
          (br $again))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_s (local.get $i) (local.get $times))))
    (i32.const 0)))
