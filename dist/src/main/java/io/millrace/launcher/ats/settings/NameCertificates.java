package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.settings.CertificateImport.Certificate;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.proxy.tls.CertificateFault;
import io.millrace.proxy.tls.CertificateReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The writer of elements of {@code tls.certificates} for server names with settings. These elements precede the
 * elements of ssl_multicert, since the first element that contains a name determines the settings of this name.
 * Confined to one thread.
 */
public final class NameCertificates {
    private record Element(Certificate certificate, List<String> names, NameSettings settings, Entry entry) {}

    private final ImportState state;
    private final CertificateImport certificates;
    /** Server names in each certificate. */
    private final Map<Certificate, List<String>> names = new LinkedHashMap<>();

    private final List<Element> elements = new ArrayList<>();
    /** Names that already have settings. */
    private final Set<String> claimed = new HashSet<>();
    /** Reason why a certificate file cannot be read; null if all files can be read. */
    private final @Nullable String readFault;

    /** Reads the names in these certificates. */
    public NameCertificates(ImportState state, CertificateImport certificates) {
        this.state = state;
        this.certificates = certificates;
        String fault = null;
        for (Certificate each : certificates.all()) {
            try {
                names.put(each, each.names().isEmpty() ? CertificateReader.names(Path.of(each.file())) : each.names());
            } catch (CertificateFault e) {
                fault = e.getMessage();
            }
        }
        readFault = fault;
    }

    /** Returns the reason why the certificate of a name cannot be determined; null if there is no obstacle. */
    public @Nullable String fault() {
        return readFault;
    }

    /** Returns the names below a domain in the certificates, including wildcard names. */
    public Set<String> below(String domain) {
        Set<String> found = new LinkedHashSet<>();
        for (List<String> each : names.values()) {
            each.stream().filter(name -> name.endsWith("." + domain)).forEach(found::add);
        }
        return found;
    }

    /**
     * Adds settings for those names that have no settings yet. The settings do not change which certificates a name
     * uses.
     */
    public void add(Set<String> serverNames, NameSettings settings, Entry entry) {
        Map<Certificate, List<String>> chosen = new LinkedHashMap<>();
        for (String name : serverNames) {
            if (claimed.add(name)) {
                certificatesOf(name).forEach(each -> chosen.computeIfAbsent(each, key -> new ArrayList<>())
                        .add(name));
            }
        }
        chosen.forEach((certificate, itsNames) -> elements.add(new Element(certificate, itsNames, settings, entry)));
    }

    /** Returns true if a name has settings. */
    public boolean has(String name) {
        return claimed.contains(name);
    }

    /**
     * Returns the certificates for a name. Certificates with the name take precedence over those with a matching
     * wildcard. If there are none, returns the certificates for clients that send no server name.
     */
    private List<Certificate> certificatesOf(String name) {
        List<Certificate> found = with(name);
        int dot = name.indexOf('.');
        if (found.isEmpty() && dot > 0) {
            found = with("*" + name.substring(dot));
        }
        if (found.isEmpty()) {
            Entry first = certificates.all().get(0).entry();
            found = certificates.all().stream()
                    .filter(each -> each.entry().equals(first))
                    .toList();
        }
        return found;
    }

    private List<Certificate> with(String name) {
        return certificates.all().stream()
                .filter(each -> names.getOrDefault(each, List.of()).contains(name))
                .toList();
    }

    /** Writes the elements, and the default certificate for clients that send no server name. */
    public void write() {
        if (elements.isEmpty()) {
            return;
        }
        certificates.moveToSharedList();
        DraftNode root = state.draft().root();
        for (int i = elements.size() - 1; i >= 0; i--) {
            Element each = elements.get(i);
            DraftNode node = root.addFirst("tls.certificates").from(each.entry);
            each.certificate.write(node);
            node.putWords("names", each.names);
            each.settings.write(node);
        }
        String defaultName = defaultName();
        if (defaultName != null) {
            root.put("tls.default_certificate", defaultName)
                    .remark("clients without SNI get the same certificate as in Traffic Server");
        }
    }

    /** Returns a name of the first certificate, preferably one without settings; null if it has no names. */
    private @Nullable String defaultName() {
        List<String> namesOfFirst = names.getOrDefault(certificates.all().get(0), List.of());
        String best = namesOfFirst.isEmpty() ? null : namesOfFirst.get(0);
        for (int i = namesOfFirst.size() - 1; i >= 0; i--) {
            best = claimed.contains(namesOfFirst.get(i)) ? best : namesOfFirst.get(i);
        }
        return best != null && best.startsWith("*.") ? "www" + best.substring(1) : best;
    }
}
