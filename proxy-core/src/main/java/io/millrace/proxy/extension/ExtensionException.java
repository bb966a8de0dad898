package io.millrace.proxy.extension;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * An extension cannot be used, so the proxy does not start. The message contains the name of the extension and the
 * reason.
 */
public final class ExtensionException extends IOException {
    private static final long serialVersionUID = 1L;

    public ExtensionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
