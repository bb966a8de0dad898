package io.millrace.proxy.config.value;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The limit of open files and connections of this process ({@code ulimit -n}). */
public final class OpenFilesLimit {
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final String NAME = "Max open files";

    private OpenFilesLimit() {}

    /**
     * Returns a warning if the process cannot open this number of connections. Returns null if it can, or if the limit
     * is not known.
     */
    public static @Nullable String warning(int connections) {
        try {
            return warning(connections, Files.readAllLines(LIMITS, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            // Not Linux, or /proc is not mounted.
            return null;
        }
    }

    /** Like {@link #warning(int)}, for the lines of {@code /proc/self/limits}. */
    static @Nullable String warning(int connections, List<String> limits) {
        long files = softLimit(limits);
        return connections <= files
                ? null
                : connections + " is above the " + files + " files that this process may have open (ulimit -n); raise"
                        + " that limit (LimitNOFILE in the systemd unit) or lower limits.connections";
    }

    private static long softLimit(List<String> limits) {
        for (String line : limits) {
            if (line.startsWith(NAME)) {
                String[] words = line.substring(NAME.length()).strip().split(" +", 2);
                return words[0].matches("[0-9]{1,18}") ? Long.parseLong(words[0]) : Long.MAX_VALUE;
            }
        }
        return Long.MAX_VALUE;
    }
}
