package io.millrace.cli.log;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Turns I/O failures into messages that name the file. Stateless. */
public final class LogFailure {
    private LogFailure() {}

    /** Returns a message such as {@code /var/log/access.log: permission denied}. */
    public static String text(IOException failure) {
        String reason = reason(failure);
        return failure instanceof FileSystemException named ? named.getFile() + ": " + reason : reason;
    }

    /** Returns the reason without the file, such as {@code permission denied}. */
    public static String reason(IOException failure) {
        if (!(failure instanceof FileSystemException named)) {
            return String.valueOf(failure.getMessage());
        }
        if (failure instanceof NoSuchFileException) {
            return "no such file";
        }
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        return named.getReason() == null ? failure.getClass().getSimpleName() : named.getReason();
    }

    /** Adds the file name to a failure. Most failures to read or write do not contain it. */
    public static FileSystemException of(Path file, IOException failure) {
        if (failure instanceof FileSystemException named) {
            return named;
        }
        FileSystemException reported = new FileSystemException(file.toString(), null, failure.getMessage());
        reported.initCause(failure);
        return reported;
    }
}
