package io.millrace.proxy.tls;

import io.millrace.proxy.tls.CertificateFault.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state of all certificates at the time of a check. Immutable.
 *
 * @param directories unreadable directories, each with the reason
 * @param faults number of faults since the start, by kind
 * @param seenMillis time of the check, in epoch milliseconds
 */
public record TlsReport(List<Line> lines, Map<Path, String> directories, Map<Kind, Long> faults, long seenMillis) {
    static final TlsReport EMPTY = new TlsReport(List.of(), Map.of(), Map.of(), 0);

    public TlsReport {
        lines = List.copyOf(lines);
        directories = Map.copyOf(directories);
        faults = Map.copyOf(faults);
    }

    /**
     * The state of one certificate.
     *
     * @param names the names for which the certificate is used
     * @param settings the settings of these names, each as written in the configuration file
     * @param element index in {@code tls.certificates}, beyond its end for an automatic certificate; negative for
     * the certificate of one listening address
     * @param facts properties of the version in use; null if no version has been usable
     * @param loadedSeconds time when the version in use was read, in epoch seconds
     * @param fault the current fault of the files; null for none
     * @param problem file and reason of the fault, or a note that a local copy is in use; null for none
     * @param faultSinceSeconds start of the fault, in epoch seconds
     * @param stapled whether the settings enable OCSP staples; null if no address uses the certificate
     */
    public record Line(
            CertificateFiles files,
            List<String> names,
            List<String> settings,
            int element,
            ServerCertificate.@Nullable Facts facts,
            long loadedSeconds,
            @Nullable Kind fault,
            @Nullable String problem,
            long faultSinceSeconds,
            @Nullable Boolean stapled) {
        public Line {
            names = List.copyOf(names);
            settings = List.copyOf(settings);
        }

        /** Returns true if the certificate is configured for one listening address. */
        public boolean isOwn() {
            return element < 0;
        }

        /** Returns a copy for a certificate of one listening address. */
        Line own() {
            return new Line(
                    files, names, settings, -1, facts, loadedSeconds, fault, problem, faultSinceSeconds, stapled);
        }
    }
}
