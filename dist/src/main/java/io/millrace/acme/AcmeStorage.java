package io.millrace.acme;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Storage of accounts, keys, certificates and challenges, which several launchers may share. Thread-safe; blocks.
 *
 * <p>Paths have the form {@code certificates/www.example.com.pem}.
 */
interface AcmeStorage {
    /** The right to work on one name. */
    interface Lease extends AutoCloseable {
        /** Gives the right up; it also ends with the process. */
        @Override
        void close();
    }

    /** Replaces a file as a whole: readers see the old content or the new one. Only this user may read it. */
    void put(String path, String content) throws IOException;

    /** The content; empty where there is none. */
    Optional<String> get(String path) throws IOException;

    /** Removes a file; one that is not there is no failure. */
    void delete(String path) throws IOException;

    /** Names of the files in a directory, sorted; unfinished ones are left out. */
    List<String> list(String directory) throws IOException;

    /** The right to work on a name; empty while another process has it. */
    Optional<Lease> lease(String name) throws IOException;
}
