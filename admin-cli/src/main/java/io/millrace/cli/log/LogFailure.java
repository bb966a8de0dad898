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
        if (!(failure instanceof FileSystemException named)) {
            return String.valueOf(failure.getMessage());
        }
        String reason = named.getReason();
        if (failure instanceof NoSuchFileException) {
            reason = "no such file";
        } else if (failure instanceof AccessDeniedException) {
            reason = "permission denied";
        } else if (reason == null) {
            reason = failure.getClass().getSimpleName();
        }
        return named.getFile() + ": " + reason;
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
