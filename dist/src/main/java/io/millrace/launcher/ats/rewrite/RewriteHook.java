package io.millrace.launcher.ats.rewrite;

import org.jspecify.annotations.Nullable;

/** The hooks of {@code header_rewrite}: the points of a transaction at which rules run. */
enum RewriteHook {
    REMAP_PSEUDO_HOOK("request_header"),
    READ_REQUEST_PRE_REMAP_HOOK("request_header"),
    READ_REQUEST_HDR_HOOK("request_header"),
    SEND_REQUEST_HDR_HOOK("request_header"),
    READ_RESPONSE_HDR_HOOK("stored_header"),
    SEND_RESPONSE_HDR_HOOK("response_header"),
    TXN_START_HOOK(null),
    TXN_CLOSE_HOOK(null);

    private final @Nullable String keyEnding;

    RewriteHook(@Nullable String keyEnding) {
        this.keyEnding = keyEnding;
    }

    /**
     * Ending of the names of the keys for this hook, such as {@code request_header} of {@code set_request_header}. Null
     * if rules cannot change header fields at the hook.
     */
    @Nullable
    String keyEnding() {
        return keyEnding;
    }

    /** Returns true if rules run before the response is known. */
    boolean isOnRequest() {
        return "request_header".equals(keyEnding);
    }

    /** Returns the hook with a name; null if the name is no hook. */
    static @Nullable RewriteHook find(String name) {
        for (RewriteHook hook : values()) {
            if (hook.name().equals(name)) {
                return hook;
            }
        }
        return null;
    }
}
