package io.millrace.proxy.tls;

import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.config.tls.AcmeConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The state of the names with automatic certificates (ACME). Read from files that the launcher process writes.
 * Thread-safe.
 */
final class AutomaticNames {
    private final ReentrantLock lock = new ReentrantLock();
    private volatile List<AcmeRecord> records = List.of();
    private @Nullable FileTime directoryModified;

    /** Returns the records as of the last check. */
    List<AcmeRecord> all() {
        return records;
    }

    /** Reads the records again if a record was replaced. Blocks on files. */
    void checkFiles(@Nullable AcmeConfig config) {
        lock.lock();
        try {
            read(config);
        } finally {
            lock.unlock();
        }
    }

    private void read(@Nullable AcmeConfig config) {
        AcmeFiles files = AcmeFiles.of(config);
        if (files == null) {
            records = List.of();
            directoryModified = null;
            return;
        }
        try {
            // A rename into the directory changes the directory's modification time.
            FileTime now = Files.getLastModifiedTime(files.records());
            if (!now.equals(directoryModified)) {
                records = List.copyOf(AcmeRecord.all(files));
                directoryModified = now;
            }
        } catch (IOException e) {
            // The previous records stay in use. The launcher reports a storage that cannot be used.
            directoryModified = null;
        }
    }
}
