package io.millrace.store.io;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Explains an I/O error of a storage path and what an operator can do about it. */
public final class FileFaults {
    private FileFaults() {}

    /** Returns an error with the path, the cause and a remedy; the original error if there is no better explanation. */
    public static IOException explain(Path path, IOException fault) {
        if (fault instanceof LeaseHeldException) {
            return fault;
        }
        String said = words(fault);
        if (fault.getCause() != null && said.startsWith(path + ": ")) {
            return fault;
        }
        String meaning = meaning(fault, said);
        return meaning == null ? fault : new IOException(path + ": " + meaning + " (" + said + ")", fault);
    }

    /** Returns the error's message, or its class and name if it has none. */
    public static String words(IOException fault) {
        String message = fault.getMessage();
        return message == null ? fault.toString() : message;
    }

    private static @Nullable String meaning(IOException fault, String said) {
        if (fault instanceof AccessDeniedException
                || said.contains("Permission denied")
                || said.contains("Operation not permitted")) {
            return "permission denied to user " + System.getProperty("user.name")
                    + "; make that user the owner of the path, or choose another";
        }
        if (said.contains("Read-only file system")) {
            return "on a read-only file system; mount it writable, or choose another path";
        }
        if (said.contains("No space left on device") || said.contains("Disk quota exceeded")) {
            return "no space left; make room there, or make the size smaller";
        }
        if (fault instanceof FileAlreadyExistsException
                || fault instanceof NotDirectoryException
                || said.contains("Not a directory")) {
            return "not a directory, or below something that is none; move that away, or choose another path";
        }
        if (fault instanceof NoSuchFileException) {
            return "missing, and it could not be made; make it, or mount what belongs there";
        }
        if (said.contains("Input/output error")) {
            return "the device reports errors; look at the kernel's log, and replace it";
        }
        if (said.contains("Too many open files")) {
            return "this process may not open more files; raise its limit (LimitNOFILE)";
        }
        return fault instanceof FileSystemException ? "cannot be used" : null;
    }
}
