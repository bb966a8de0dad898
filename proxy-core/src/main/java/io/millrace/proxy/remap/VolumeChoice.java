package io.millrace.proxy.remap;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.VolumeShareConfig;
import io.millrace.proxy.http.TargetUri;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Selects the cache volume of a response: the one named by its rule, else the one of the client's host, else the
 * default. An exact host name precedes the longest matching domain. Immutable.
 */
public final class VolumeChoice {
    private final Map<String, String> byHost = new HashMap<>();
    private final Map<String, String> byDomain = new HashMap<>();

    private VolumeChoice() {}

    /** Returns the volume choice of a configuration. */
    public static VolumeChoice of(ProxyConfig config) {
        VolumeChoice choice = new VolumeChoice();
        for (VolumeShareConfig volume : config.volumes()) {
            for (String host : volume.hosts()) {
                String lower = host.toLowerCase(Locale.ROOT);
                String domain = lower.startsWith("*.") ? lower.substring(1) : lower;
                (domain.startsWith(".") ? choice.byDomain : choice.byHost).put(domain, volume.name());
            }
        }
        return choice;
    }

    /** Returns the name of the volume for responses to the target under its rule. */
    public String volume(TargetUri target, Mapped mapped) {
        String ofRule = mapped.rule().cache().volume();
        String found = ofRule != null ? ofRule : volume(target.host());
        return found == null ? VolumeShareConfig.DEFAULT_NAME : found;
    }

    private @Nullable String volume(String host) {
        String found = byHost.get(host);
        if (byDomain.isEmpty()) {
            return found;
        }
        for (int dot = host.indexOf('.'); found == null && dot >= 0; dot = host.indexOf('.', dot + 1)) {
            found = byDomain.get(host.substring(dot));
        }
        return found;
    }
}
