package io.millrace.wasm;

/** A host function, which a module calls as an import. */
@FunctionalInterface
interface GuestCall {
    /**
     * Runs the function.
     *
     * @param guest the instance that calls
     * @param args one number for each parameter
     * @return the result as a number of 32 bits; ignored for a function without a result
     */
    int run(WasmInstance guest, long[] args);

    /**
     * A host function with its type.
     *
     * @param parameters one letter for each parameter: i for 32 bits, l for 64
     * @param hasResult whether it returns a number of 32 bits
     */
    record Typed(String parameters, boolean hasResult, GuestCall call) {}
}
