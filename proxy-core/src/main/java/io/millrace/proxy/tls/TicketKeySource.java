package io.millrace.proxy.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Selects the TLS session ticket keys. They come from a file, otherwise from the launcher process, otherwise from
 * this process.
 *
 * <p>If the file cannot be used, the previous keys stay in use. Guarded by the lock of {@link ServerTls}.
 */
final class TicketKeySource {
    private static final Logger log = LoggerFactory.getLogger(TicketKeySource.class);
    private static final int FILE_BYTES_MAX = 4096;

    private final SecureRandom random = new SecureRandom();
    private final Consumer<TicketKeys> listener;
    private @Nullable Path file;
    private @Nullable FileStamp stamp;
    private TicketKeys keys = TicketKeys.generate(random);
    private @Nullable TicketKeys given;
    private boolean fromFile;

    /**
     * @param listener receives the keys after every change
     */
    TicketKeySource(Consumer<TicketKeys> listener) {
        this.listener = listener;
    }

    TicketKeys keys() {
        return keys;
    }

    /** Sets the file with keys; null for none. Reads the file, so that the call blocks. */
    void file(@Nullable Path next) {
        if (next == null && fromFile) {
            fromFile = false;
            use(given == null ? keys.rotated(random) : given.before(keys));
        }
        file = next;
        stamp = null;
        checkFiles();
    }

    /** Sets the keys received from the launcher process, which rotates them. */
    void give(TicketKeys fresh) {
        given = given == null ? fresh : fresh.before(given);
        if (!fromFile) {
            use(fresh.before(keys));
        }
    }

    /** Generates a new key if neither a file nor the launcher supplies keys. */
    void rotate() {
        if (!fromFile && given == null) {
            use(keys.rotated(random));
        }
    }

    /** Reads the file if it has changed. Blocks. */
    void checkFiles() {
        Path path = file;
        if (path == null) {
            return;
        }
        FileStamp now = FileStamp.of(path);
        if (now.equals(stamp)) {
            return;
        }
        stamp = now;
        try {
            if (now.size() > FILE_BYTES_MAX) {
                throw new IllegalArgumentException("is longer than " + FILE_BYTES_MAX + " bytes");
            }
            TicketKeys read = TicketKeys.parse(Files.readAllBytes(path));
            fromFile = true;
            use(read);
            log.info("TLS: {} session ticket keys from {}", read.size(), path);
        } catch (IOException | IllegalArgumentException e) {
            log.error(
                    "TLS: tls.ticket_keys_file: {}: {}; the keys loaded before stay in use",
                    path,
                    e instanceof NoSuchFileException ? "no such file" : e.getMessage());
        }
    }

    private void use(TicketKeys next) {
        keys = next;
        listener.accept(next);
    }
}
