package io.millrace.launcher.config;

import io.millrace.launcher.state.StateDirectory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The command-line options of {@code millrace run}. Immutable.
 *
 * @param demo whether to serve the demonstration site
 * @param origin URL of the only origin, which replaces the configuration file; null for none
 * @param listen listen addresses; empty for those of the configuration file, or for a default address without a file
 * @param config configuration file; null for a default file
 * @param state state directory; null for the default of {@link StateDirectory}
 * @param set settings that override those of the file, by key
 * @param site site to serve over HTTPS; null for none
 */
public record LaunchOptions(
        boolean demo,
        @Nullable String origin,
        List<String> listen,
        @Nullable Path config,
        @Nullable Path state,
        Map<String, String> set,
        @Nullable TlsSite site) {}
