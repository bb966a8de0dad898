package io.millrace.proxy.remap;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.VolumeShareConfig;
import io.millrace.proxy.http.TargetUri;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Selects the cache volume in which a response is stored. The first of these decides: the volume that the remap
 * rule names, the volume of the client's host, the volume of the URL's scheme, the default volume. An exact host
 * name precedes the longest matching domain. For the same name, a volume for the URL's scheme precedes a volume for
 * both schemes. Immutable.
 */
public final class VolumeChoice {
    private final Names bothSchemes = new Names();
    private final Names http = new Names();
    private final Names https = new Names();

    /** The volumes by host name and domain, for one scheme or for both. */
    private static final class Names {
        final Map<String, String> byHost = new HashMap<>();
        final Map<String, String> byDomain = new HashMap<>();
        /** Volume of all other hosts; null for none. */
        @Nullable
        String others;
    }

    private VolumeChoice() {}

    /** Returns the volume choice of a configuration. */
    public static VolumeChoice of(ProxyConfig config) {
        VolumeChoice choice = new VolumeChoice();
        for (VolumeShareConfig volume : config.volumes()) {
            Names names = choice.names(volume.scheme());
            if (volume.scheme() != null && volume.hosts().isEmpty()) {
                names.others = volume.name();
            }
            for (String host : volume.hosts()) {
                String lower = host.toLowerCase(Locale.ROOT);
                String domain = lower.startsWith("*.") ? lower.substring(1) : lower;
                (domain.startsWith(".") ? names.byDomain : names.byHost).put(domain, volume.name());
            }
        }
        return choice;
    }

    private Names names(VolumeShareConfig.@Nullable Scheme scheme) {
        return scheme == null ? bothSchemes : scheme == VolumeShareConfig.Scheme.HTTP ? http : https;
    }

    /** Returns the name of the volume for responses to the target under its rule. */
    public String volume(TargetUri target, Mapped mapped) {
        String ofRule = mapped.rule().cache().volume();
        String found = ofRule != null ? ofRule : volume(target.host(), target.isSecure() ? https : http);
        return found == null ? VolumeShareConfig.DEFAULT_NAME : found;
    }

    private @Nullable String volume(String host, Names ofScheme) {
        String found = ofScheme.byHost.get(host);
        if (found == null) {
            found = bothSchemes.byHost.get(host);
        }
        if (ofScheme.byDomain.isEmpty() && bothSchemes.byDomain.isEmpty()) {
            return found == null ? ofScheme.others : found;
        }
        for (int dot = host.indexOf('.'); found == null && dot >= 0; dot = host.indexOf('.', dot + 1)) {
            String domain = host.substring(dot);
            found = ofScheme.byDomain.get(domain);
            if (found == null) {
                found = bothSchemes.byDomain.get(domain);
            }
        }
        return found == null ? ofScheme.others : found;
    }
}
