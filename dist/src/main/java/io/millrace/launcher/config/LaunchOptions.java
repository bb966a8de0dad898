package io.millrace.launcher.config;

import io.millrace.launcher.state.StateDirectory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What {@code run} was asked for. Immutable.
 *
 * @param demo serve the embedded site
 * @param origin serve this origin, without a file
 * @param listen addresses; empty for those of the configuration
 * @param config the file; null to look for one
 * @param state the state directory; null for the rule of {@link StateDirectory}
 * @param set settings over those of the file
 * @param site names to serve over HTTPS; null for none
 */
public record LaunchOptions(
        boolean demo,
        @Nullable String origin,
        List<String> listen,
        @Nullable Path config,
        @Nullable Path state,
        Map<String, String> set,
        @Nullable TlsSite site) {}
