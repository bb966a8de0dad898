package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.FileMode;
import java.util.List;

/** Configuration keys for configuration files: included files, history and file mode. */
public final class FileKeys {
    public static final ConfigKey<List<String>> INCLUDE = ConfigKey.builder("include", ValueType.NAMES)
            .atsName("remap.config (.include)")
            .description("Files whose lists remap, origins, filters, rules, request_limits and cache_rules are"
                    + " appended to those of this file. An element is a path, a directory (its *.yaml and *.yml files) or a"
                    + " pattern such as rules.d/*.yaml, read in the order of names. Included files contain only"
                    + " these lists.");
    public static final ConfigKey<Integer> HISTORY = ConfigKey.builder("admin.config_history", ValueType.INTEGER)
            .within(1, 1000)
            .defaultsTo(20)
            .atsName("proxy.config.admin.number_config_bak")
            .description("Applied configurations that the launcher keeps, for config history and config rollback.");

    public static final ConfigKey<FileMode> MODE = ConfigKey.builder("file_mode", ValueType.FILE_MODE)
            .defaultsTo(FileMode.STANDARD)
            .rolling()
            .description(
                    "Mode of the files that launcher and worker create: cache, logs, state. Directories also get the"
                            + " search permission (x) wherever the file mode permits reading: 0640 gives 0750.");

    private FileKeys() {}
}
