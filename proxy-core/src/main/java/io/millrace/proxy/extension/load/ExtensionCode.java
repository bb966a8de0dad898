package io.millrace.proxy.extension.load;

import io.millrace.proxy.spi.Extension;
import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * An extension whose code was loaded, and that is not open yet.
 *
 * @param extension the object
 * @param classes the owner of the classes; null for a class of the application
 */
public record ExtensionCode(Extension extension, @Nullable Closeable classes) implements Closeable {
    /** Releases the classes. Called after the extension was closed. */
    @Override
    public void close() throws IOException {
        if (classes != null) {
            classes.close();
        }
    }
}
