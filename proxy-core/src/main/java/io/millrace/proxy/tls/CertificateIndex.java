package io.millrace.proxy.tls;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which certificates are used for which name. Immutable: a change makes another one.
 *
 * <p>An exact name goes before a wildcard, which stands for one label (RFC 6125 section 6.4.3).
 */
final class CertificateIndex {
    static final CertificateIndex EMPTY = new CertificateIndex(Map.of(), Map.of(), Map.of(), null, false);

    /**
     * A certificate that may be used.
     *
     * @param names what it is used for, in lower case
     */
    record Candidate(ServerCertificate certificate, List<String> names) {}

    private final Map<String, CertificateSet> exact;

    /** By what stands behind {@code *.}. */
    private final Map<String, CertificateSet> wildcards;

    private final Map<List<ServerCertificate>, CertificateSet> sets;
    private final @Nullable CertificateSet defaultSet;
    private final boolean rejectsUnknown;

    private CertificateIndex(
            Map<String, CertificateSet> exact,
            Map<String, CertificateSet> wildcards,
            Map<List<ServerCertificate>, CertificateSet> sets,
            @Nullable CertificateSet defaultSet,
            boolean rejectsUnknown) {
        this.exact = exact;
        this.wildcards = wildcards;
        this.sets = sets;
        this.defaultSet = defaultSet;
        this.rejectsUnknown = rejectsUnknown;
    }

    /**
     * Makes an index.
     *
     * @param candidates the earlier ones go first where several have the same name and kind of key, but expired ones last
     * @param defaultName whose certificate clients without a name get; null for that of the first candidate
     * @param previous sets of certificates that are the same in both are shared, and contexts with them
     */
    static CertificateIndex of(
            List<Candidate> candidates,
            @Nullable String defaultName,
            boolean rejectsUnknown,
            long nowMillis,
            CertificateIndex previous) {
        Map<String, List<ServerCertificate>> byName = new HashMap<>(candidates.size() * 2);
        Map<String, List<ServerCertificate>> byWildcard = new HashMap<>();
        for (Candidate candidate : candidates) {
            for (String name : candidate.names()) {
                boolean wildcard = name.startsWith("*.");
                offer(wildcard ? byWildcard : byName, wildcard ? name.substring(2) : name, candidate, nowMillis);
            }
        }
        Map<List<ServerCertificate>, CertificateSet> sets = new HashMap<>(candidates.size() * 2);
        Map<String, CertificateSet> exact = resolve(byName, sets, previous);
        Map<String, CertificateSet> wildcards = resolve(byWildcard, sets, previous);
        CertificateSet defaultSet = defaultName == null ? null : find(exact, wildcards, defaultName);
        for (int i = 0; defaultSet == null && i < candidates.size(); i++) {
            Candidate first = candidates.get(i);
            defaultSet = first.names().isEmpty()
                    ? null
                    : find(exact, wildcards, first.names().get(0));
            if (defaultSet == null) {
                defaultSet = set(List.of(first.certificate()), sets, previous);
            }
        }
        return new CertificateIndex(exact, wildcards, sets, defaultSet, rejectsUnknown);
    }

    private static void offer(
            Map<String, List<ServerCertificate>> byName, String name, Candidate candidate, long nowMillis) {
        List<ServerCertificate> held = byName.computeIfAbsent(name, each -> new ArrayList<>(1));
        ServerCertificate offered = candidate.certificate();
        for (int i = 0; i < held.size(); i++) {
            if (held.get(i).keyAlgorithm().equals(offered.keyAlgorithm())) {
                if (held.get(i).isExpired(nowMillis) && !offered.isExpired(nowMillis)) {
                    held.set(i, offered);
                }
                return;
            }
        }
        held.add(offered);
        // Elliptic curves go first: their signatures are cheaper than RSA's, and clients that lack them get RSA.
        held.sort(Comparator.comparing(each -> each.keyAlgorithm().equals("RSA")));
    }

    private static Map<String, CertificateSet> resolve(
            Map<String, List<ServerCertificate>> byName,
            Map<List<ServerCertificate>, CertificateSet> sets,
            CertificateIndex previous) {
        Map<String, CertificateSet> resolved = new HashMap<>(byName.size() * 2);
        byName.forEach((name, held) -> resolved.put(name, set(held, sets, previous)));
        return resolved;
    }

    private static CertificateSet set(
            List<ServerCertificate> held,
            Map<List<ServerCertificate>, CertificateSet> sets,
            CertificateIndex previous) {
        CertificateSet known = sets.get(held);
        if (known == null) {
            CertificateSet before = previous.sets.get(held);
            known = before == null ? new CertificateSet(held) : before;
            sets.put(known.certificates(), known);
        }
        return known;
    }

    /** The certificates for a name that a client asks for, null where it names none; null where there are none. */
    @Nullable
    CertificateSet find(@Nullable String name) {
        CertificateSet found = name == null ? null : find(exact, wildcards, name);
        if (found != null) {
            return found;
        }
        return name != null && rejectsUnknown ? null : defaultSet;
    }

    /** The certificates for a name, without the default. */
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

    /** Every set that this index can choose. */
    Collection<CertificateSet> sets() {
        return sets.values();
    }

    /** Whether the set can be chosen still. */
    boolean has(CertificateSet set) {
        return sets.get(set.certificates()) == set;
    }

    /** Names with certificates of their own, wildcards left out. */
    Set<String> names() {
        return exact.keySet();
    }
}
