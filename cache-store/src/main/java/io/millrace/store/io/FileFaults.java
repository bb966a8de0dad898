package io.millrace.store.io;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Explains an I/O error of a storage path, and names a remedy for the operator. */
public final class FileFaults {
    private FileFaults() {}

    /**
     * Returns an error that states the path, the cause and a remedy. Returns the original error if no remedy is known.
     */
    public static IOException explain(Path path, IOException fault) {
        if (fault instanceof LeaseHeldException) {
            return fault;
        }
        String text = messageOf(fault);
        if (fault.getCause() != null && text.startsWith(path + ": ")) {
            return fault;
        }
        String meaning = meaning(fault, text);
        return meaning == null ? fault : new IOException(path + ": " + meaning + " (" + text + ")", fault);
    }

    /** Returns the message of the error, or its {@code toString()} if it has no message. */
    public static String messageOf(IOException fault) {
        String message = fault.getMessage();
        return message == null ? fault.toString() : message;
    }

    /**
     * Returns true if the kernel refused an operation as invalid (EINVAL), such as a direct write that is not aligned.
     */
    public static boolean isInvalidArgument(IOException fault) {
        return messageOf(fault).contains("Invalid argument");
    }

    private static @Nullable String meaning(IOException fault, String text) {
        if (fault instanceof AccessDeniedException
                || text.contains("Permission denied")
                || text.contains("Operation not permitted")) {
            return "permission denied to user " + System.getProperty("user.name")
                    + "; make that user the owner of the path, or choose another path";
        }
        if (text.contains("Read-only file system")) {
            return "on a read-only file system; mount the file system writable, or choose another path";
        }
        if (text.contains("No space left on device") || text.contains("Disk quota exceeded")) {
            return "no space left; free space on the file system, or lower the size";
        }
        if (fault instanceof FileAlreadyExistsException
                || fault instanceof NotDirectoryException
                || text.contains("Not a directory")) {
            return "not a directory, or a file is above it in the path; move the file, or choose another path";
        }
        if (fault instanceof NoSuchFileException) {
            return "missing, and cannot be created; create it, or mount its file system";
        }
        if (text.contains("Input/output error")) {
            return "the device reports I/O errors; see the kernel's log, and replace the device";
        }
        if (text.contains("Too many open files")) {
            return "this process has reached its limit of open files; raise the limit (LimitNOFILE)";
        }
        return fault instanceof FileSystemException ? "cannot be used" : null;
    }
}
