package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.TargetUrl;
import io.millrace.cli.render.CertificateView;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands {@code millctl tls}: list, show, check and renew certificates. */
public final class TlsCommands {
    private static final String CERTIFICATES = "/v1/tls/certificates";

    /** Timeout of {@code renew}, which waits until the certificate authority has validated the host name. */
    private static final Duration RENEW_TIMEOUT = Duration.ofMinutes(9);

    private TlsCommands() {}

    @Command(
            name = "list",
            abbreviateSynopsis = true,
            description = {
                "Show every TLS certificate: names, expiry, key, file, state, settings.",
                "Problems follow each one."
            },
            footer = {"", "Example: millctl tls list"})
    public static final class ListAll extends ApiCommand {
        public ListAll(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.get(CERTIFICATES);
            show(response, CertificateView.list(answered(response), console().paint()));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "show",
            abbreviateSynopsis = true,
            description = {
                "Show all details of the certificates for a name.",
                "Issuer, chain, validity, key, files, when they were loaded, and the settings in force with their sources."
            },
            footer = {"", "Example: millctl tls show www.example.com"})
    public static final class Show extends ApiCommand {
        @Parameters(paramLabel = "NAME", description = "A host name, or the path of a certificate file.")
        private String name = "";

        public Show(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.get(CERTIFICATES + "?name=" + TargetUrl.encoded(name));
            JsonObject report = answered(response);
            if (report.objects("certificates").isEmpty()
                    && report.objects("automatic").isEmpty()) {
                throw new CommandFailure(ExitCode.FAILED, "no certificate for " + name + "; see millctl tls list");
            }
            show(response, CertificateView.details(report, console().paint()));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "renew",
            abbreviateSynopsis = true,
            description = {
                "Order a new automatic certificate for a name now.",
                "Waits until the issuer has decided. The limit of orders per hour still applies."
            },
            footer = {"", "Example: millctl tls renew www.example.com"})
    public static final class Renew extends ApiCommand {
        @Parameters(paramLabel = "NAME", description = "A name of tls.acme.names, or one issued on demand.")
        private String name = "";

        public Renew(Invocation invocation) {
            super(invocation, RENEW_TIMEOUT);
        }

        @Override
        protected boolean isChange() {
            return true;
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.post("/v1/tls/renew", JsonText.object("name", name));
            JsonObject report = answered(response);
            String problem = report.text("problem");
            if (problem != null) {
                throw new CommandFailure(ExitCode.FAILED, name + ": no new certificate: " + problem);
            }
            show(response, CertificateView.renewed(report));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "check",
            abbreviateSynopsis = true,
            description = {
                "Read a certificate as the proxy would, without using it.",
                "Fails if the proxy could not use it. The file is read with the permissions of the proxy's user."
            },
            footer = {"", "Example: millctl tls check /etc/letsencrypt/live"})
    public static final class Check extends ApiCommand {
        @Parameters(paramLabel = "FILE", description = "A PEM file, or a directory of certificates.")
        private Path file = Path.of("");

        @Option(
                names = "--key",
                paramLabel = "FILE",
                description = "The private key; without it NAME.key beside the file, or the file itself.")
        private @Nullable Path key;

        public Check(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            String target = "/v1/tls/check?file=" + absolute(file) + (key == null ? "" : "&key=" + absolute(key));
            AdminResponse response = client.get(target);
            JsonObject report = answered(response);
            show(response, CertificateView.details(report, console().paint()));
            boolean good = !report.objects("certificates").isEmpty();
            for (JsonObject each : report.objects("certificates")) {
                good &= each.text("problem") == null;
            }
            return good ? ExitCode.OK : ExitCode.FAILED;
        }

        private static String absolute(Path path) {
            return TargetUrl.encoded(path.toAbsolutePath().normalize().toString());
        }
    }
}
