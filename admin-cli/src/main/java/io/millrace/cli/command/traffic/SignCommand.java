package io.millrace.cli.command.traffic;

import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.Console;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.sign.UrlSigner;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "sign",
        abbreviateSynopsis = true,
        description = {
            "Sign a URL with a key of signed_urls.keys.",
            "A key with a number signs as Traffic Server's url_sig. Works offline."
        },
        footer = {"", "Example: millctl sign --keys sig.keys --expires 2h http://a.example/v/1.mp4"})
public final class SignCommand implements Callable<Integer> {
    private static final long YEAR_SECONDS = 366 * 86_400L;

    @Parameters(paramLabel = "URL", arity = "0..1", description = "The URL as clients request it.")
    private @Nullable String url;

    @Option(names = "--keys", paramLabel = "FILE", description = "The file of signed_urls.keys.")
    private @Nullable Path keys;

    @Option(names = "--key", paramLabel = "KEY", description = "Number or name of the key. Default: the first one.")
    private @Nullable String key;

    @Option(
            names = "--expires",
            paramLabel = "TIME",
            description = "Validity, such as 90s, 10m, 2h or 7d. Default: 1h.")
    private String expires = "1h";

    @Option(names = "--client", paramLabel = "ADDRESS", description = "The only permitted client address.")
    private @Nullable String client;

    @Option(
            names = "--parts",
            paramLabel = "DIGITS",
            description = "url_sig: signed parts of host and path. Default: 1.")
    private String parts = "1";

    @Option(names = "--md5", description = "url_sig: HMAC-MD5 instead of HMAC-SHA1.")
    private boolean md5;

    @Option(names = "--prefix", paramLabel = "PATH", description = "Permit all paths that begin with this one.")
    private @Nullable String prefix;

    @Option(names = "--new-key", paramLabel = "NAME", description = "Print a line with a new key, and exit.")
    private @Nullable String newKey;

    private final Invocation invocation;

    public SignCommand(Invocation invocation) {
        this.invocation = invocation;
    }

    @Override
    public Integer call() throws CommandFailure {
        Console console = invocation.console();
        if (newKey != null) {
            requireWord(newKey);
            console.data(List.of(UrlSigner.newKey(newKey)));
            return ExitCode.OK;
        }
        String given = url;
        if (given == null || keys == null) {
            throw new CommandFailure(ExitCode.USAGE, "a URL and --keys FILE are needed, or --new-key NAME");
        }
        if (!given.startsWith("http://") && !given.startsWith("https://")) {
            throw new CommandFailure(ExitCode.USAGE, "'" + given + "' is not a URL with http:// or https://");
        }
        UrlSigner signer = signer(keys);
        String name = name(signer);
        checkKeyKind(signer, name);
        long end = Instant.now().getEpochSecond() + seconds(expires);
        String signed;
        try {
            signed = signer.sign(given, name, new UrlSigner.Terms(end, client, parts, md5, prefix));
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()));
        }
        if (invocation.isJson()) {
            Map<String, String> members = new LinkedHashMap<>();
            members.put("url", signed);
            members.put("key", name);
            members.put("expires", Instant.ofEpochSecond(end).toString());
            console.json(JsonText.object(members));
        } else {
            console.data(List.of(signed));
        }
        return ExitCode.OK;
    }

    private UrlSigner signer(Path file) throws CommandFailure {
        try {
            return UrlSigner.of(file);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.USAGE, file + " cannot be read (" + e.getMessage() + ")");
        }
    }

    private String name(UrlSigner signer) throws CommandFailure {
        String name = key == null ? signer.firstName() : key;
        if (name == null) {
            throw new CommandFailure(ExitCode.USAGE, keys + " has no key, such as key0 = SECRET");
        }
        if (!signer.has(name)) {
            throw new CommandFailure(
                    ExitCode.USAGE, "no key is named " + name + "; known: " + String.join(", ", signer.names()));
        }
        return name;
    }

    /**
     * Throws an exception for an option that the kind of key does not support: url_sig (number) or Millrace (name).
     */
    private void checkKeyKind(UrlSigner signer, String name) throws CommandFailure {
        boolean numbered = signer.isNumbered(name);
        if (numbered && prefix != null) {
            throw new CommandFailure(ExitCode.USAGE, "--prefix needs a key with a name; url_sig has --parts");
        }
        if (!numbered && (md5 || !parts.equals("1"))) {
            throw new CommandFailure(ExitCode.USAGE, "--parts and --md5 are for keys with a number (url_sig)");
        }
        if (prefix != null && !prefix.startsWith("/")) {
            throw new CommandFailure(ExitCode.USAGE, "--prefix '" + prefix + "' does not begin with a slash");
        }
        for (int i = 0; i < parts.length(); i++) {
            if (parts.charAt(i) != '0' && parts.charAt(i) != '1') {
                throw new CommandFailure(ExitCode.USAGE, "--parts '" + parts + "' has a digit other than 0 and 1");
            }
        }
        if (parts.isEmpty()) {
            throw new CommandFailure(ExitCode.USAGE, "--parts is empty; it takes digits 0 and 1");
        }
    }

    private static void requireWord(String name) throws CommandFailure {
        boolean valid = !name.isEmpty() && name.length() <= 64;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            valid &=
                    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || "-_.".indexOf(c) >= 0;
        }
        if (!valid) {
            throw new CommandFailure(
                    ExitCode.USAGE, "'" + name + "' is not a name of 1 to 64 letters, digits, '-', '_' and '.'");
        }
    }

    private static long seconds(String text) throws CommandFailure {
        int digits = 0;
        while (digits < text.length() && text.charAt(digits) >= '0' && text.charAt(digits) <= '9') {
            digits++;
        }
        long unit =
                switch (text.substring(digits)) {
                    case "s" -> 1;
                    case "m" -> 60;
                    case "h" -> 3600;
                    case "d" -> 86_400;
                    default -> 0;
                };
        long seconds = digits == 0 || digits > 9 ? 0 : Long.parseLong(text.substring(0, digits)) * unit;
        if (seconds < 1 || seconds > YEAR_SECONDS) {
            throw new CommandFailure(
                    ExitCode.USAGE, "--expires '" + text + "' is not a time of 1s to 366d, such as 10m, 2h or 7d");
        }
        return seconds;
    }
}
