package io.millrace.proxy.config.check;

import io.millrace.proxy.config.admin.AdminKeys;
import io.millrace.proxy.config.guard.PasswordKeys;
import io.millrace.proxy.config.guard.SignedUrlKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.key.TraceKeys;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.value.FileMode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks the permissions of secrets, the cache and the logs. Confined to one thread. */
public final class FilePermissionChecks {
    /** Minimum length of the token of the admin API. */
    public static final int TOKEN_LENGTH_MIN = 16;

    private static final int TOKEN_FILE_BYTES_MAX = 1024;

    private final ConfigProblems problems;
    private final Place wholeFile;

    public FilePermissionChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /** Checks address and files of the admin API. Errors would prevent the start of the launcher. */
    public void check(ConfigValues values) {
        new AdminChecks(problems, wholeFile).checkListen(values);
        if (values.find(ConfigKeys.ADMIN_LISTEN) == null) {
            return;
        }
        for (ConfigKey<Path> key :
                List.of(AdminKeys.CERTIFICATE, AdminKeys.KEY, AdminKeys.CA_FILE, AdminKeys.CRL_FILE)) {
            Path file = values.find(key);
            if (file != null && !Files.isReadable(file)) {
                problems.error(
                        problems.placeOf(key.path(), wholeFile),
                        key.path(),
                        file + (Files.exists(file) ? ": permission denied" : ": no such file"));
            }
        }
        Map<String, String> seen = new HashMap<>();
        checkToken(AdminKeys.TOKEN_FILE.path(), values.find(AdminKeys.TOKEN_FILE), seen);
        List<ConfigValues> tokens = values.elements(AdminKeys.TOKENS);
        for (int i = 0; i < tokens.size(); i++) {
            checkToken("admin.tokens[" + i + "].file", tokens.get(i).find(AdminKeys.TOKEN_SECRET), seen);
        }
    }

    /**
     * Checks one token file.
     *
     * @param seen the configuration key of each token that was checked before
     */
    private void checkToken(String path, @Nullable Path file, Map<String, String> seen) {
        if (file == null) {
            return;
        }
        String problem = tokenFileProblem(file);
        if (problem == null) {
            problem = repeatedToken(path, file, seen);
        }
        if (problem != null) {
            problems.error(problems.placeOf(path, wholeFile), path, problem);
        }
    }

    private static @Nullable String repeatedToken(String path, Path file, Map<String, String> seen) {
        try {
            String other = seen.putIfAbsent(token(file), path);
            return other == null ? null : file + ": has the same token as " + other + "; each needs its own";
        } catch (IOException e) {
            return file + ": cannot be read: " + e.getMessage();
        }
    }

    /** Warns of files that other users can access. */
    public void warnOfReadableFiles(ConfigValues values) {
        List<ConfigValues> listeners = values.elements(ConfigKeys.LISTEN);
        for (int i = 0; i < listeners.size(); i++) {
            checkKey("listen[" + i + "].tls.key", listeners.get(i).find(ConfigKeys.LISTEN_KEY));
        }
        checkKey(AdminKeys.KEY.path(), values.find(AdminKeys.KEY));
        checkKey(SharedTlsKeys.TICKET_KEYS_FILE.path(), values.find(SharedTlsKeys.TICKET_KEYS_FILE));
        checkKey(TraceKeys.KEY.path(), values.find(TraceKeys.KEY));
        checkKey(TraceKeys.HEADERS_FILE.path(), values.find(TraceKeys.HEADERS_FILE));
        checkGuards(values, "");
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < remap.size(); i++) {
            checkGuards(remap.get(i), "remap[" + i + "].");
        }
        FileMode mode = values.get(FileKeys.MODE);
        List<ConfigValues> storagePaths = values.elements(ConfigKeys.STORAGE);
        for (int i = 0; i < storagePaths.size(); i++) {
            checkMode("storage[" + i + "].path", storagePaths.get(i).find(ConfigKeys.STORAGE_PATH), mode);
            checkMode("storage[" + i + "].index_path", storagePaths.get(i).find(ConfigKeys.STORAGE_INDEX_PATH), mode);
        }
        checkMode(ConfigKeys.LOG_ACCESS_PATH.path(), values.find(ConfigKeys.LOG_ACCESS_PATH), mode);
        List<ConfigValues> logs = values.elements(LogKeys.LOGS);
        for (int i = 0; i < logs.size(); i++) {
            checkMode("log.access[" + i + "].path", logs.get(i).find(LogKeys.PATH), mode);
            checkKey("log.access[" + i + "].syslog.key", logs.get(i).find(LogKeys.KEY));
        }
    }

    /** Checks the files of signing keys and of passwords that a rule or the general settings name. */
    private void checkGuards(ConfigValues values, String prefix) {
        for (ConfigKey<LoadedFile> key : List.of(SignedUrlKeys.KEYS, PasswordKeys.FILE)) {
            LoadedFile file = values.find(key);
            checkKey(prefix + key.path(), file == null ? null : file.path());
        }
    }

    private void checkKey(String path, @Nullable Path key) {
        int bits = key == null ? -1 : bits(key);
        if (bits >= 0 && (bits & 0007) != 0) {
            problems.warning(
                    problems.placeOf(path, wholeFile),
                    path,
                    key + " has mode " + FileMode.text(bits)
                            + ": every user of this machine has access to it; run 'chmod o= " + key + "'");
        }
    }

    private void checkMode(String path, @Nullable Path file, FileMode mode) {
        String problem = file == null ? null : modeProblem(file, mode);
        if (problem != null) {
            problems.warning(problems.placeOf(path, wholeFile), path, problem);
        }
    }

    /**
     * Returns the problem of an existing file or directory whose mode exceeds file_mode. Returns null if there is none.
     */
    public static @Nullable String modeProblem(Path file, FileMode mode) {
        boolean directory = Files.isDirectory(file);
        if (!directory && !Files.isRegularFile(file)) {
            return null;
        }
        int allowed = directory ? mode.directoryBits() : mode.bits();
        int bits = bits(file);
        if (bits < 0 || (bits & 0077 & ~allowed) == 0) {
            return null;
        }
        return file + " has mode " + FileMode.text(bits) + ", wider than file_mode allows (" + FileMode.text(allowed)
                + "): run 'chmod " + FileMode.text(bits & (allowed | 0700)) + " " + file + "', or set file_mode";
    }

    /**
     * Returns the reason why the launcher would refuse a token file. Returns null if it would accept it. The reason
     * does not quote the token.
     */
    public static @Nullable String tokenFileProblem(Path file) {
        if (!Files.exists(file)) {
            return file + ": the token file cannot be read, no such file";
        }
        if (!Files.isRegularFile(file)) {
            return file + ": the token file cannot be read, because it is a directory or a device";
        }
        if (!Files.isReadable(file)) {
            return file + ": the token file cannot be read, permission denied";
        }
        int bits = bits(file);
        if (bits >= 0 && (bits & 0004) != 0) {
            return file + " has mode " + FileMode.text(bits)
                    + ": the token file can be read by every user, run 'chmod o-r " + file + "'";
        }
        try {
            if (Files.size(file) > TOKEN_FILE_BYTES_MAX) {
                return file + ": the token file is longer than " + TOKEN_FILE_BYTES_MAX + " bytes";
            }
            int length = token(file).length();
            return length >= TOKEN_LENGTH_MIN
                    ? null
                    : file + ": the token has " + length + " characters, at least " + TOKEN_LENGTH_MIN
                            + " are needed; make one with 'openssl rand -hex 32'";
        } catch (IOException e) {
            return file + ": cannot be read: " + e.getMessage();
        }
    }

    /** Returns the first line of a token file. */
    public static String token(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1)
                .lines()
                .findFirst()
                .orElse("")
                .strip();
    }

    /** Returns the permissions as in {@code chmod}. Returns -1 if the file is missing or has no POSIX permissions. */
    private static int bits(Path file) {
        try {
            PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
            if (view == null) {
                return -1;
            }
            Set<PosixFilePermission> permissions = view.readAttributes().permissions();
            int bits = 0;
            for (PosixFilePermission permission : PosixFilePermission.values()) {
                bits = bits << 1 | (permissions.contains(permission) ? 1 : 0);
            }
            return bits;
        } catch (IOException e) {
            return -1;
        }
    }
}
