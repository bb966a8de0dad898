package io.millrace.wasm;

/** Thrown if a module cannot be used, or if a call of a module has failed. The message is for the log. */
final class WasmFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WasmFailure(String message) {
        super(message);
    }

    WasmFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
