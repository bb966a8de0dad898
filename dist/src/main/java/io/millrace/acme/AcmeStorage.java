package io.millrace.acme;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The storage of accounts, keys, certificates and challenges, which several launchers may share. Thread-safe. Blocks.
 *
 * <p>Paths have the form {@code certificates/www.example.com.pem}.
 */
interface AcmeStorage {
    /** The exclusive right of one process to work on a name. */
    interface Lease extends AutoCloseable {
        /** Releases the lease; the end of the process also releases it. */
        @Override
        void close();
    }

    /** Replaces a file atomically: readers see the old content or the new one. Only this user may read the file. */
    void put(String path, String content) throws IOException;

    /** Returns the content of a file; empty if it does not exist. */
    Optional<String> get(String path) throws IOException;

    /** Deletes a file; does not fail if it is missing. */
    void delete(String path) throws IOException;

    /** Returns the names of the files in a directory, sorted, without unfinished files. */
    List<String> list(String directory) throws IOException;

    /** Acquires the lease of a name; empty while another holder has it. */
    Optional<Lease> lease(String name) throws IOException;
}
