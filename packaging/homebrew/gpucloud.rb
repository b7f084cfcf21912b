class Gpucloud < Formula
  desc "Rent GPU instances by the hour from the terminal, scripts and CI"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@ADDRESS@/gpucloud-@VERSION@-darwin-arm64.tar.xz"
      sha256 "@SUM darwin-arm64@"
    end
    on_intel do
      url "@ADDRESS@/gpucloud-@VERSION@-darwin-x64.tar.xz"
      sha256 "@SUM darwin-x64@"
    end
  end

  on_linux do
    on_arm do
      url "@ADDRESS@/gpucloud-@VERSION@-linux-arm64.tar.xz"
      sha256 "@SUM linux-arm64@"
    end
    on_intel do
      url "@ADDRESS@/gpucloud-@VERSION@-linux-x64.tar.xz"
      sha256 "@SUM linux-x64@"
    end
  end

  def install
    bin.install "bin/gpucloud"
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/gpucloud"
    fish_completion.install "share/fish/vendor_completions.d/gpucloud.fish"
    zsh_completion.install "share/zsh/site-functions/_gpucloud"
    doc.install Dir["share/doc/gpucloud/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/gpucloud --version")
  end
end
