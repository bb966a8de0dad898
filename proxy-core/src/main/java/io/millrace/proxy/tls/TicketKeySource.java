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
 * The source of the session ticket keys in use: the keys of a file, else the keys received from the launcher, else
 * generated ones.
 *
 * <p>Confined to the lock of {@link ServerTls}. If the file cannot be used, the previous keys stay in use.
 */
final class TicketKeySource {
    private static final Logger log = LoggerFactory.getLogger(TicketKeySource.class);
    private static final int FILE_BYTES_MAX = 4096;

    private final SecureRandom random = new SecureRandom();
    private final Consumer<TicketKeys> user;
    private @Nullable Path file;
    private @Nullable FileStamp stamp;
    private TicketKeys keys = TicketKeys.generate(random);
    private @Nullable TicketKeys given;
    private boolean fromFile;

    /**
     * @param user receives the keys after every change
     */
    TicketKeySource(Consumer<TicketKeys> user) {
        this.user = user;
    }

    TicketKeys keys() {
        return keys;
    }

    /** Changes the file; null for none. Blocks. */
    void file(@Nullable Path next) {
        if (next == null && fromFile) {
            fromFile = false;
            use(given == null ? keys.rotated(random) : given.before(keys));
        }
        file = next;
        stamp = null;
        look();
    }

    /** Sets the keys received from the launcher, which rotates them. */
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
    void look() {
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
        user.accept(next);
    }
}
