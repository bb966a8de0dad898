package io.millrace.proxy.tls;

import io.millrace.proxy.tls.CertificateFault.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of certificates at one time. Immutable.
 *
 * @param directories those that cannot be read, each with its reason
 * @param faults how many were found since the start, by kind
 * @param seenMillis time of the look, milliseconds since 1970
 */
public record TlsReport(List<Line> lines, Map<Path, String> directories, Map<Kind, Long> faults, long seenMillis) {
    static final TlsReport EMPTY = new TlsReport(List.of(), Map.of(), Map.of(), 0);

    public TlsReport {
        lines = List.copyOf(lines);
        directories = Map.copyOf(directories);
        faults = Map.copyOf(faults);
    }

    /**
     * One certificate.
     *
     * @param names what it is used for
     * @param settings of these names, each as in the file
     * @param element index in {@code tls.certificates}, past its end for an automatic one; negative for that of an address
     * @param facts of the version in use; null where none ever was
     * @param loadedSeconds when that version was read, seconds since 1970
     * @param fault what is wrong with the files now; null for nothing
     * @param problem file and reason of the fault
     * @param faultSinceSeconds since when, seconds since 1970
     * @param stapled whether handshakes carry staples by the settings; null where the certificate is not used
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

        /** Whether it is that of an address. */
        public boolean isOwn() {
            return element < 0;
        }

        Line own() {
            return new Line(
                    files, names, settings, -1, facts, loadedSeconds, fault, problem, faultSinceSeconds, stapled);
        }
    }
}
