package io.millrace.cli.command;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How a command shows its result. */
enum OutputFormat {
    /** Lines for people. */
    TABLE,
    /** The admin API's JSON, for programs. */
    JSON;

    static final class Converter implements ITypeConverter<OutputFormat> {
        @Override
        public OutputFormat convert(String value) {
            return switch (value) {
                case "table" -> TABLE;
                case "json" -> JSON;
                default -> throw new TypeConversionException("'" + value + "' is neither table nor json");
            };
        }
    }
}
