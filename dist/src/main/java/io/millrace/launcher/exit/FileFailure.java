package io.millrace.launcher.exit;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Formats error messages of file operations with the file and the reason. Java's own messages lack either the file or
 * the reason. Stateless.
 */
public final class FileFailure {
    private FileFailure() {}

    /** Returns a message such as {@code /etc/millrace/millrace.yaml: permission denied}. */
    public static String text(IOException failure) {
        if (!(failure instanceof FileSystemException named) || named.getFile() == null) {
            Throwable cause = failure.getCause();
            return failure.getMessage()
                    + (cause == null
                                    || String.valueOf(failure.getMessage()).contains(String.valueOf(cause.getMessage()))
                            ? ""
                            : ": " + cause.getMessage());
        }
        return named.getFile() + ": " + reason(named);
    }

    /** Returns the message of a failure that may not name the file. */
    public static String text(Path file, IOException failure) {
        return failure instanceof FileSystemException named ? text(named) : file + ": " + failure.getMessage();
    }

    private static String reason(FileSystemException failure) {
        if (failure instanceof NoSuchFileException) {
            return "no such file";
        }
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (failure instanceof FileAlreadyExistsException) {
            return "exists and is not a directory";
        }
        if (failure instanceof NotDirectoryException) {
            return "is not a directory";
        }
        String reason = failure.getReason();
        return reason == null ? "cannot be used" : reason.toLowerCase(Locale.ROOT);
    }
}
