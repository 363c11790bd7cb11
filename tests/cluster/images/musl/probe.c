/* The only program of an image without a shell: writes, prints, says who it is. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
    FILE *file;
    int byte;

    if (count == 4 && strcmp(words[1], "write") == 0) {
        file = fopen(words[2], "w");
        if (!file)
            return 2;
        fputs(words[3], file);
        return fclose(file) == 0 ? 0 : 2;
    }
    if (count == 3 && strcmp(words[1], "print") == 0) {
        file = fopen(words[2], "r");
        if (!file)
            return 2;
        while ((byte = fgetc(file)) != EOF)
            putchar(byte);
        return 0;
    }
    if (count == 2 && strcmp(words[1], "user") == 0) {
        printf("%d\n", (int)getuid());
        return 0;
    }
    return 1;
}
