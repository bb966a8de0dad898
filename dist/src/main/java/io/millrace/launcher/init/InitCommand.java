package io.millrace.launcher.init;

import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.config.value.Units;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code millrace init}, which writes a first configuration with HTTPS. It asks the operator for the
 * settings that no option gives, if there is a terminal. Confined to one thread.
 */
@Command(
        name = "init",
        description = {
            "Writes a first configuration with HTTPS.",
            "Asks five questions on a terminal. Each can be answered by an option;",
            "without a terminal, only the options count."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example: millrace init --site www.example.com \\",
            "           --origin http://127.0.0.1:9000 --accept-terms --yes"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the file is written",
            "1:it could not be written",
            "2:an answer is missing or wrong, or the file exists"
        })
public final class InitCommand implements Callable<Integer> {
    /** URL of the terms of service of Let's Encrypt. */
    private static final String TERMS = "https://letsencrypt.org/repository/";

    private static final String ORIGIN_DEFAULT = "http://127.0.0.1:9000";
    private static final int PRIVILEGED_PORT_MAX = 1023;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "FILE", description = "The file to write. Default: millrace.yaml.")
    private Path file = Path.of("millrace.yaml");

    @Option(
            names = "--site",
            paramLabel = "NAME[=URL]",
            description = "Host name of a site, perhaps with an origin of its own; may be repeated.")
    private List<String> sites = List.of();

    @Option(names = "--origin", paramLabel = "URL", description = "Origin of the sites without their own.")
    private @Nullable String origin;

    @Option(
            names = "--certificate",
            paramLabel = "PATH",
            description = "PEM file with a certificate chain, or a directory of certificates, such as"
                    + " /etc/letsencrypt/live. Without it certificates are ordered automatically.")
    private @Nullable Path certificate;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "PEM file with the private key. Default: in the same file, or privkey.pem or NAME.key"
                    + " beside it.")
    private @Nullable Path key;

    @Option(
            names = "--accept-terms",
            description = "Accept the terms of service of Let's Encrypt, for automatic certificates.")
    private boolean acceptsTerms;

    @Option(names = "--email", paramLabel = "ADDRESS", description = "E-mail address for the issuer.")
    private @Nullable String email;

    @Option(
            names = "--staging",
            description = "Order certificates from Let's Encrypt's test issuer, which browsers do not trust.")
    private boolean staging;

    @Option(names = "--http", paramLabel = "ADDRESS", description = "Address for plain HTTP instead of :80.")
    private String http = ":80";

    @Option(names = "--https", paramLabel = "ADDRESS", description = "Address for HTTPS instead of :443.")
    private String https = ":443";

    @Option(names = "--cache-size", paramLabel = "SIZE", description = "Size of the cache on disk, such as 10GiB.")
    private @Nullable String cacheSize;

    @Option(
            names = "--cache-path",
            paramLabel = "DIR",
            description = "Directory of the cache. Default: cache beside FILE, or /var/cache/millrace for a file"
                    + " in /etc.")
    private @Nullable Path cachePath;

    @Option(names = "--yes", description = "Ask nothing: use the default of each question that no option answers.")
    private boolean yes;

    @Option(names = "--force", description = "Overwrite FILE if it exists.")
    private boolean force;

    private final Supplier<@Nullable BufferedReader> terminal;

    /** @param terminal returns the terminal, or null if there is none */
    public InitCommand(Supplier<@Nullable BufferedReader> terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() throws LaunchException, IOException {
        checkTarget();
        if (certificate != null && (acceptsTerms || staging || email != null)) {
            throw new LaunchException(
                    "--accept-terms, --staging and --email are for automatic certificates, without --certificate",
                    ExitCode.USAGE);
        }
        if (certificate == null && key != null) {
            throw new LaunchException("--key needs --certificate PATH", ExitCode.USAGE);
        }
        InitDraft draft;
        try {
            ListenAddress.parse(http);
            ListenAddress.parse(https);
            BufferedReader lines = yes ? null : terminal.get();
            draft = lines == null
                    ? fromOptions()
                    : ask(new Interview(lines, spec.commandLine().getOut()));
        } catch (InvalidValueException e) {
            throw new LaunchException(Interview.problem(e), ExitCode.USAGE);
        }
        return write(draft);
    }

    /** Checks that the file can be written, before any question is asked. */
    private void checkTarget() throws LaunchException {
        if (Files.exists(file) && !force) {
            throw new LaunchException(
                    file + " exists; name another file, or overwrite it with --force", ExitCode.USAGE);
        }
        Path directory = directory();
        if (!Files.isDirectory(directory)) {
            throw new LaunchException(directory + ": no such directory; create it: mkdir -p " + directory);
        }
        if (!Files.isWritable(directory)) {
            throw new LaunchException(directory + ": permission denied to user " + System.getProperty("user.name")
                    + "; run it as the owner of the directory, or name another file");
        }
    }

    private Path directory() {
        Path parent = file.toAbsolutePath().getParent();
        return parent == null ? Path.of("/") : parent;
    }

    /** Makes the draft from the options and defaults, without questions. Fails with a list of all missing options. */
    private InitDraft fromOptions() throws LaunchException, InvalidValueException {
        List<String> missing = new ArrayList<>();
        if (sites.isEmpty()) {
            missing.add("--site NAME");
        }
        List<Site> siteList = sites.isEmpty() ? List.of() : Site.parseAll(sites);
        boolean needsCommonOrigin = origin == null && siteList.stream().anyMatch(site -> site.origin() == null);
        if (needsCommonOrigin && !yes) {
            missing.add("--origin URL");
        }
        if (certificate == null && !acceptsTerms) {
            missing.add("--accept-terms (Let's Encrypt: " + TERMS + ") or --certificate PATH");
        }
        if (!missing.isEmpty()) {
            throw new LaunchException(
                    "there is no terminal for questions, or --yes is set; add: " + String.join(", ", missing),
                    ExitCode.USAGE);
        }
        return draft(
                siteList,
                Site.origin(origin == null ? ORIGIN_DEFAULT : origin),
                certificate == null ? automatic(siteList) : files(certificate, key),
                size(cacheSize == null ? defaultSize() : cacheSize));
    }

    private InitDraft ask(Interview interview) throws LaunchException, IOException, InvalidValueException {
        interview.say("Five questions about your sites; an empty line takes the answer in brackets.");
        List<Site> siteList = !sites.isEmpty()
                ? Site.parseAll(sites)
                : interview.ask(
                        1,
                        "Host names, separated by spaces, such as www.example.com",
                        null,
                        text -> Site.parseAll(List.of(text)));
        String commonOrigin = origin == null ? null : Site.origin(origin);
        if (commonOrigin == null && siteList.stream().anyMatch(site -> site.origin() == null)) {
            commonOrigin =
                    interview.ask(2, "Origin: URL of the server that has the pages", ORIGIN_DEFAULT, Site::origin);
        }
        CertificateChoice certificates = askCertificates(interview, siteList);
        String size = cacheSize != null
                ? size(cacheSize)
                : interview.ask(5, "Size of the cache on disk", defaultSize(), InitCommand::size);
        return draft(siteList, commonOrigin, certificates, size);
    }

    private CertificateChoice askCertificates(Interview interview, List<Site> siteList)
            throws LaunchException, IOException, InvalidValueException {
        if (certificate != null) {
            return files(certificate, key);
        }
        if (acceptsTerms) {
            return automatic(siteList);
        }
        boolean automatic =
                interview.ask(3, "Certificates: auto (from Let's Encrypt) or files of your own", "auto", text -> {
                    if (text.equals("auto")) {
                        automatic(siteList);
                    } else if (!text.equals("files")) {
                        throw new InvalidValueException("'" + text + "' is not valid; expected auto or files");
                    }
                    return text.equals("auto");
                });
        if (automatic) {
            boolean accepted = interview.ask(4, "Accept the terms at " + TERMS + " (yes or no)", null, text -> {
                if (!text.equals("yes") && !text.equals("no")) {
                    throw new InvalidValueException("'" + text + "' is not valid; expected yes or no");
                }
                return text.equals("yes");
            });
            if (!accepted) {
                throw new LaunchException(
                        "automatic certificates need the terms; nothing was written. For your own certificates,"
                                + " answer 'files' or use --certificate PATH",
                        ExitCode.USAGE);
            }
            return CertificateChoice.AUTOMATIC;
        }
        return askFiles(interview);
    }

    private CertificateChoice askFiles(Interview interview) throws LaunchException, IOException {
        Path chain = interview.ask(
                4, "PEM file of the certificate chain, or a directory of certificates", null, InitCommand::existing);
        CertificateChoice completed = CertificateChoice.withKey(chain);
        if (completed != null) {
            return completed;
        }
        return interview.ask(0, "PEM file of its private key", null, text -> {
            CertificateChoice withKeyFile = new CertificateChoice(chain, existing(text));
            withKeyFile.check(List.of(), System.currentTimeMillis());
            return withKeyFile;
        });
    }

    private static Path existing(String text) throws InvalidValueException {
        Path path = text.isEmpty() ? null : Path.of(text).toAbsolutePath().normalize();
        if (path == null || !Files.isReadable(path)) {
            throw new InvalidValueException(
                    text + (path != null && Files.exists(path) ? ": permission denied" : ": no such file"));
        }
        return path;
    }

    /** Checks that an automatic certificate can be issued for each name. */
    private static CertificateChoice automatic(List<Site> siteList) throws InvalidValueException {
        for (Site site : siteList) {
            if (!AcmeConfig.isIssuable(site.name()) || site.name().startsWith("*.")) {
                throw new InvalidValueException("'" + site.name()
                        + "' is not a public name such as www.example.com, so no certificate can be ordered;"
                        + " use your own files (--certificate PATH)");
            }
        }
        return CertificateChoice.AUTOMATIC;
    }

    private static CertificateChoice files(Path chain, @Nullable Path key) throws InvalidValueException {
        Path existing = existing(chain.toString());
        if (key != null) {
            return new CertificateChoice(existing, existing(key.toString()));
        }
        CertificateChoice completed = CertificateChoice.withKey(existing);
        if (completed == null) {
            throw new InvalidValueException(
                    chain + " contains no private key, and there is none beside it; name it with --key FILE");
        }
        return completed;
    }

    private static String size(String text) throws InvalidValueException {
        if (Units.parseSize(text) <= 0) {
            throw new InvalidValueException("'" + text + "' is not a size such as 10GiB");
        }
        return text.replace(" ", "");
    }

    private String defaultSize() {
        return CacheSizeProposal.defaultSize(cacheDirectory());
    }

    private Path cacheDirectory() {
        if (cachePath != null) {
            return cachePath.toAbsolutePath().normalize();
        }
        Path directory = directory().normalize();
        return directory.startsWith("/etc") ? Path.of("/var/cache/millrace") : directory.resolve("cache");
    }

    private InitDraft draft(
            List<Site> siteList, @Nullable String commonOrigin, CertificateChoice certificates, String size) {
        Path cache = cacheDirectory();
        boolean isBesideFile = cache.equals(directory().normalize().resolve("cache"));
        return new InitDraft(
                siteList,
                commonOrigin,
                certificates,
                email,
                staging,
                http,
                https,
                isBesideFile ? "cache" : cache.toString(),
                size);
    }

    private int write(InitDraft draft) throws LaunchException, IOException {
        PrintWriter err = spec.commandLine().getErr();
        List<String> notes;
        try {
            notes = draft.certificates().check(draft.sites(), System.currentTimeMillis());
        } catch (InvalidValueException e) {
            throw new LaunchException(Interview.problem(e) + "; nothing was written", ExitCode.USAGE);
        }
        String yaml = draft.yaml();
        ConfigResult result = ConfigLoader.parse(yaml, file.toString(), directory(), Map.of());
        for (ConfigProblem problem : result.problems()) {
            err.println(problem.text());
        }
        if (result.config() == null) {
            throw new LaunchException("the answers do not make a usable file; nothing was written", ExitCode.USAGE);
        }
        notes.forEach(note -> err.println("note: " + note));
        if (force) {
            Path newFile = directory().resolve("." + file.getFileName() + ".new");
            Files.writeString(newFile, yaml);
            Files.move(newFile, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } else {
            Files.writeString(file, yaml, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        }
        printNextSteps(draft, spec.commandLine().getOut());
        return ExitCode.OK;
    }

    private void printNextSteps(InitDraft draft, PrintWriter out) throws LaunchException {
        int count = draft.sites().size();
        out.println("wrote " + file + ": " + count + (count == 1 ? " site" : " sites") + " over HTTPS, "
                + (draft.certificates().isAutomatic() ? "automatic certificates" : "certificates from files"));
        boolean isDefault = file.toAbsolutePath()
                .normalize()
                .equals(Path.of("millrace.yaml").toAbsolutePath().normalize());
        try {
            boolean privileged = ListenAddress.parse(http).port() <= PRIVILEGED_PORT_MAX
                    || ListenAddress.parse(https).port() <= PRIVILEGED_PORT_MAX;
            if (privileged && !System.getProperty("user.name", "").equals("root")) {
                out.println("Ports below 1024 need root, or: sudo sysctl net.ipv4.ip_unprivileged_port_start=80");
            }
        } catch (InvalidValueException e) {
            throw new LaunchException(Interview.problem(e), ExitCode.USAGE);
        }
        out.println("Next: millrace run" + (isDefault ? "" : " --config " + file));
    }
}
