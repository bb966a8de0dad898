package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.TlsConfig.NameSettings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The index of certificates by server name. Immutable: a change creates a new index.
 *
 * <p>An exact name takes precedence over a wildcard, which matches one label (RFC 6125 section 6.4.3).
 */
final class CertificateIndex {
    static final CertificateIndex EMPTY = new CertificateIndex(Map.of(), Map.of(), Map.of(), null, false);

    /**
     * A certificate with the names and settings for which it may be used.
     *
     * @param names the names for which the certificate is used, in lower case
     * @param settings the settings of these names
     */
    record Candidate(ServerCertificate certificate, List<String> names, NameSettings settings) {}

    /**
     * The certificates and settings of one name, by which a {@link CertificateSet} is found. The first candidate
     * of the name determines the settings.
     */
    private record SetKey(List<ServerCertificate> certificates, NameSettings settings) {}

    private final Map<String, CertificateSet> exact;

    /** The sets by wildcard name, without {@code *.}. */
    private final Map<String, CertificateSet> wildcards;

    private final Map<SetKey, CertificateSet> sets;
    private final @Nullable CertificateSet defaultSet;
    private final boolean rejectsUnknown;
    private final Set<NameSettings> settings;

    private CertificateIndex(
            Map<String, CertificateSet> exact,
            Map<String, CertificateSet> wildcards,
            Map<SetKey, CertificateSet> sets,
            @Nullable CertificateSet defaultSet,
            boolean rejectsUnknown) {
        this.exact = exact;
        this.wildcards = wildcards;
        this.sets = sets;
        this.defaultSet = defaultSet;
        this.rejectsUnknown = rejectsUnknown;
        this.settings = sets.values().stream().map(CertificateSet::settings).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Creates an index.
     *
     * @param candidates the certificates; of several certificates for one name and key type, the first that has
     * not expired is used
     * @param defaultName name whose certificate is sent to clients that send no server name; null for the first
     * candidate
     * @param previous the index to replace; its sets are used again if their certificates are equal, which keeps
     * their TLS contexts
     */
    static CertificateIndex of(
            List<Candidate> candidates,
            @Nullable String defaultName,
            boolean rejectsUnknown,
            long nowMillis,
            CertificateIndex previous) {
        Map<String, SetKey> byName = new HashMap<>(candidates.size() * 2);
        Map<String, SetKey> byWildcard = new HashMap<>();
        for (Candidate candidate : candidates) {
            for (String name : candidate.names()) {
                boolean wildcard = name.startsWith("*.");
                offer(wildcard ? byWildcard : byName, wildcard ? name.substring(2) : name, candidate, nowMillis);
            }
        }
        Map<SetKey, CertificateSet> sets = new HashMap<>(candidates.size() * 2);
        Map<String, CertificateSet> exact = resolve(byName, sets, previous);
        Map<String, CertificateSet> wildcards = resolve(byWildcard, sets, previous);
        CertificateSet defaultSet = defaultName == null ? null : find(exact, wildcards, defaultName);
        for (int i = 0; defaultSet == null && i < candidates.size(); i++) {
            Candidate first = candidates.get(i);
            defaultSet = first.names().isEmpty()
                    ? null
                    : find(exact, wildcards, first.names().get(0));
            if (defaultSet == null) {
                defaultSet = set(new SetKey(List.of(first.certificate()), first.settings()), sets, previous);
            }
        }
        return new CertificateIndex(exact, wildcards, sets, defaultSet, rejectsUnknown);
    }

    private static void offer(Map<String, SetKey> byName, String name, Candidate candidate, long nowMillis) {
        List<ServerCertificate> certificatesOfName = byName.computeIfAbsent(
                        name, each -> new SetKey(new ArrayList<>(1), candidate.settings()))
                .certificates();
        ServerCertificate offered = candidate.certificate();
        for (int i = 0; i < certificatesOfName.size(); i++) {
            if (certificatesOfName.get(i).keyAlgorithm().equals(offered.keyAlgorithm())) {
                if (certificatesOfName.get(i).isExpired(nowMillis) && !offered.isExpired(nowMillis)) {
                    certificatesOfName.set(i, offered);
                }
                return;
            }
        }
        certificatesOfName.add(offered);
        // EC certificates come first, because their signatures need less CPU time. Clients without support receive
        // the RSA certificate.
        certificatesOfName.sort(Comparator.comparing(each -> each.keyAlgorithm().equals("RSA")));
    }

    private static Map<String, CertificateSet> resolve(
            Map<String, SetKey> byName, Map<SetKey, CertificateSet> sets, CertificateIndex previous) {
        Map<String, CertificateSet> resolved = new HashMap<>(byName.size() * 2);
        byName.forEach((name, key) -> resolved.put(name, set(key, sets, previous)));
        return resolved;
    }

    private static CertificateSet set(SetKey key, Map<SetKey, CertificateSet> sets, CertificateIndex previous) {
        CertificateSet known = sets.get(key);
        if (known == null) {
            CertificateSet before = previous.sets.get(key);
            known = before == null ? new CertificateSet(key.certificates(), key.settings()) : before;
            sets.put(new SetKey(known.certificates(), known.settings()), known);
        }
        return known;
    }

    /**
     * Returns the certificates for a client. Returns null if there are none, or if unknown names are rejected.
     *
     * @param name the server name that the client requests; null for none
     */
    @Nullable
    CertificateSet find(@Nullable String name) {
        CertificateSet found = name == null ? null : find(exact, wildcards, name);
        if (found != null) {
            return found;
        }
        return name != null && rejectsUnknown ? null : defaultSet;
    }

    /** Returns the certificates that contain a name; null for none. Does not return the default. */
    @Nullable
    CertificateSet findExactly(String name) {
        return find(exact, wildcards, name);
    }

    private static @Nullable CertificateSet find(
            Map<String, CertificateSet> exact, Map<String, CertificateSet> wildcards, String name) {
        CertificateSet found = exact.get(name);
        int dot = found != null || wildcards.isEmpty() ? -1 : name.indexOf('.');
        return dot <= 0 ? found : wildcards.get(name.substring(dot + 1));
    }

    /** All sets that this index can select. */
    Collection<CertificateSet> sets() {
        return sets.values();
    }

    /** Returns true if this index can select the set. */
    boolean has(CertificateSet set) {
        return sets.get(new SetKey(set.certificates(), set.settings())) == set;
    }

    /** The distinct settings of all names. */
    Set<NameSettings> settings() {
        return settings;
    }

    /**
     * Returns true if no name has its own settings. Then the settings of the listening address apply to all names.
     */
    boolean isUniform() {
        return settings.isEmpty() || (settings.size() == 1 && settings.contains(NameSettings.NONE));
    }

    /** Returns the exact names of all certificates. */
    Set<String> names() {
        return exact.keySet();
    }
}
